import type { Weights } from '../../lib/statistics.ts';
import type { Measure, Prepared } from '../compare/measure.ts';
import type { PairedCase } from '../compare/paired-cases.ts';
import { isRight, judgedCases } from '../figures/judged.ts';
import type { ReplayedCase } from '../run/replay.ts';

/** What is published at most wrongly, of what is published. */
const RISK = 0.05;

interface Ranked {
  readonly index: number;
  readonly score: number;
  readonly right: boolean;
}

/**
 * The share of cases that could be published with at most 5 % of them wrong: the answers that each side is surest of, down to the lowest
 * threshold that keeps to it. Each side is judged by what it publishes by (`answerConfidence`), at a threshold of its own, which is chosen on
 * these very cases: fair between sides, too good for either.
 */
export const COVERAGE_AT_EQUAL_RISK: Measure = {
  name: 'publishable with at most 5 % wrong',
  better: 'higher',
  prepare: (pairs): Prepared | null => {
    const ranked = { a: rankedOf(pairs, 'a'), b: rankedOf(pairs, 'b') };
    if (ranked.a.length === 0 || ranked.b.length !== ranked.a.length) return null;
    const [a, b] = [new Set(publishable(ranked.a, null).cases), new Set(publishable(ranked.b, null).cases)];
    return {
      cases: ranked.a.length,
      value: (side, weights) => publishable(ranked[side], weights).share,
      higher: [...b].filter((index) => !a.has(index)).length,
      lower: [...a].filter((index) => !b.has(index)).length,
      binary: false,
    };
  },
};

function rankedOf(pairs: readonly PairedCase[], side: 'a' | 'b'): Ranked[] {
  const ranked = pairs.flatMap(({ runs }, index) => runs[side].slice(0, 1).flatMap((run) => scored(run, index)));
  return ranked.sort((left, right) => right.score - left.score);
}

function scored(run: ReplayedCase, index: number): Ranked[] {
  const [judged] = judgedCases([run]);
  const score = run.result.answerConfidence;
  return judged === undefined || score === null ? [] : [{ index, score, right: isRight(judged) }];
}

/** Answers of one score are published together or not at all. `cases`: the pairs that are. */
function publishable(ranked: readonly Ranked[], weights: Weights | null): { readonly share: number; readonly cases: readonly number[] } {
  let [published, wrong, best, until] = [0, 0, 0, 0];
  for (const [at, { index, score, right }] of ranked.entries()) {
    const weight = weights?.[index] ?? 1;
    published += weight;
    if (!right) wrong += weight;
    if (ranked[at + 1]?.score === score || wrong > RISK * published) continue;
    best = published;
    until = at + 1;
  }
  return { share: best / published, cases: ranked.slice(0, until).map(({ index }) => index) };
}
