import type { Difference } from '../../../src/domain/comparison.ts';
import type { Weights } from '../../../src/lib/statistics.ts';
import { resolveProject } from '../../../src/replay/cases/case.ts';
import { computeDifferences } from '../../../src/replay/compare/compare-runs.ts';
import {
  createMeanMeasure,
  MEASURES,
  type Measure,
  type Prepared,
} from '../../../src/replay/compare/measures.ts';
import type { PairedCase } from '../../../src/replay/compare/pair-cases.ts';
import { CONFIDENT } from '../../../src/replay/figures/calibration.ts';
import { findRank } from '../../../src/replay/figures/explanation.ts';
import { isRight, listJudgedCases } from '../../../src/replay/figures/figure.ts';
import { scoreTests } from '../../../src/replay/figures/reading.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';

/**
 * Returns the confidence with which a wrong answer is published. It is not the probability of the
 * classification if the answer was verified.
 */
function isSureAndWrong(run: ReplayedCase): number | null {
  const [judged] = listJudgedCases([run]);
  const stated = run.result.answerConfidence;
  return judged === undefined || stated === null ? null : Number(stated >= CONFIDENT && !isRight(judged));
}

function countMisquoted({ result, quotes }: ReplayedCase): number | null {
  if (result.action === null || result.error !== null) return null;
  return Number(result.action === 'auto_notify' && quotes.literal < quotes.made);
}

function isAmongFirst(run: ReplayedCase, count: number): number | null {
  if ((run.row?.faulty_files?.length ?? 0) === 0 || run.result.action === null) return null;
  const rank = findRank(run);
  return Number(rank !== null && rank <= count);
}

function countTests(run: ReplayedCase): number | null {
  return scoreTests([run]).find(({ name }) => name === 'failing tests: F1')?.value ?? null;
}

/** The maximum share of wrong answers among the published ones. */
const RISK = 0.05;

interface Ranked {
  readonly index: number;
  readonly score: number;
  readonly right: boolean;
}

/**
 * The share of cases that could be published with at most 5 % of them wrong: the answers with the highest
 * confidence on each side, down to the lowest threshold that keeps this limit. Each side uses its own
 * confidence (`answerConfidence`) and its own threshold, which is chosen on these very cases. This is fair
 * between the sides, but too good for either.
 */
const COVERAGE_AT_EQUAL_RISK: Measure = {
  name: 'publishable with at most 5 % wrong',
  better: 'higher',
  prepare: (pairs): Prepared | null => {
    const ranked = { a: listRanked(pairs, 'a'), b: listRanked(pairs, 'b') };
    if (ranked.a.length === 0 || ranked.b.length !== ranked.a.length) return null;
    const [a, b] = [
      new Set(computePublishable(ranked.a, null).cases),
      new Set(computePublishable(ranked.b, null).cases),
    ];
    return {
      cases: ranked.a.length,
      value: (side, weights) => computePublishable(ranked[side], weights).share,
      higher: [...b].filter((index) => !a.has(index)).length,
      lower: [...a].filter((index) => !b.has(index)).length,
      binary: false,
    };
  },
};

/**
 * The measures by which two systems that differ in one part are compared: all measures for two runs, and
 * those that only apply here.
 */
export const ABLATION_MEASURES: readonly Measure[] = [
  ...MEASURES,
  COVERAGE_AT_EQUAL_RISK,
  createMeanMeasure('confident but wrong answers', 'lower', isSureAndWrong),
  createMeanMeasure('published with quotes that are not in the log', 'lower', countMisquoted),
  createMeanMeasure('faulty file in the first three', 'higher', (run) => isAmongFirst(run, 3)),
  createMeanMeasure('failing tests: F1 of a log', 'higher', countTests),
];

function listRanked(pairs: readonly PairedCase[], side: 'a' | 'b'): Ranked[] {
  const ranked = pairs.flatMap(({ runs }, index) =>
    runs[side].slice(0, 1).flatMap((run) => scoreRun(run, index)),
  );
  return ranked.sort((left, right) => right.score - left.score);
}

function scoreRun(run: ReplayedCase, index: number): Ranked[] {
  const [judged] = listJudgedCases([run]);
  const score = run.result.answerConfidence;
  return judged === undefined || score === null ? [] : [{ index, score, right: isRight(judged) }];
}

/**
 * Returns the largest share that can be published within the risk, and the indexes of the pairs in it.
 * Answers with the same score are published together or not at all.
 */
function computePublishable(
  ranked: readonly Ranked[],
  weights: Weights | null,
): { readonly share: number; readonly cases: readonly number[] } {
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

/**
 * Compares two systems, `a` with `b`, by every measure that the labels allow. Cases that only one of them has
 * are left out.
 */
export function computeSystemDifferences(
  a: readonly ReplayedCase[],
  b: readonly ReplayedCase[],
  measures: readonly Measure[],
): readonly Difference[] {
  return computeDifferences(createPairs(a, b), measures).differences;
}

function createPairs(a: readonly ReplayedCase[], b: readonly ReplayedCase[]): PairedCase[] {
  const others = new Map(b.map((replayedCase) => [replayedCase.result.id, replayedCase]));
  return a.flatMap((replayedCase, at) => {
    const other = others.get(replayedCase.result.id);
    if (replayedCase.row === null || other === undefined) return [];
    return [
      {
        id: replayedCase.result.id,
        line: at + 1,
        row: replayedCase.row,
        project: resolveProject(replayedCase.row),
        runs: { a: [replayedCase], b: [other] },
      },
    ];
  });
}
