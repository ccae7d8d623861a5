import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BUCKETS, bucketsOf, COLUMNS, type RankModel, rowsOf, scoreCandidates, type Tree, wordScore } from '../src/log/rank/model.ts';
import { placeRanked } from '../src/log/rank/ranked.ts';
import { reduceLogs } from '../src/log/reduce/reduce.ts';
import { foldsBy } from '../src/replay/cases/project-folds.ts';
import { coveredShare } from '../src/replay/figures/line-ranges.ts';
import { fitTrees } from './ranking/boosting.ts';
import { type LabelledLog, labelledLogs } from './ranking/labelled-logs.ts';
import { fitWords, type WordWeights } from './ranking/logistic.ts';

const OPTIONS = { trees: 100, leaves: 16, rate: 0.1, least: 0.15, penalty: 0.3 } as const;
const FOLDS = 5;
/** Sets whose labels are whole passages, not the fewest lines that prove the cause. */
const PASSAGES: ReadonlySet<string> = new Set(['reduce/logchunks.jsonl', 'reduce/cidiff.jsonl']);
const { values: asked } = parseArgs({
  allowNegative: true,
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
    by: { type: 'string', default: 'project' },
    folds: { type: 'boolean', default: true },
  },
});
if (asked.data === undefined) throw new Error('name the folder of the labelled logs: --data FOLDER');
const logs = await labelledLogs(asked.data);
console.log(
  `${logs.length} readings of ${new Set(logs.map(({ id }) => id)).size} logs, ${logs.reduce((sum, one) => sum + one.candidates.lines.length, 0)} candidate lines`,
);
if (asked.folds) crossValidate();
if (asked.out !== undefined) writeModel(asked.out, train(logs));

/** Trains on the logs of all other groups for each, and tells what of the labelled lines is kept. */
function crossValidate(): void {
  const results: { set: string; group: string; augmented: boolean; short: number; long: number; first: number }[] = [];
  for (const fold of foldsBy(logs, (one) => groupOf(one), FOLDS)) {
    const held = new Set(fold.map(groupOf));
    const model = train(logs.filter((one) => !held.has(groupOf(one))));
    for (const one of fold) {
      const scores = scoreCandidates(model, one.candidates);
      const [short, long] = [2_000, 8_000].map((budget) => keptShare(one, scores.keeping, budget));
      results.push({
        set: one.set,
        group: groupOf(one),
        augmented: one.augmented,
        short: short ?? 0,
        long: long ?? 0,
        first: firstTells(one, scores.proving) ? 1 : 0,
      });
    }
  }
  for (const augmented of [false, true]) {
    for (const [set, own] of Map.groupBy(
      results.filter((one) => one.augmented === augmented),
      (one) => one.set,
    )) {
      const mean = (pick: (one: (typeof own)[number]) => number) => (own.reduce((sum, one) => sum + pick(one), 0) / own.length).toFixed(3);
      console.log(
        `${set}${augmented ? ' without readers' : ''}: ${own.length} logs, kept at 2,000 ${mean(({ short }) => short)}, at 8,000 ${mean(({ long }) => long)}, first line ${mean(({ first }) => first)}`,
      );
    }
  }
  if (asked.by !== 'language') return;
  for (const [group, own] of Map.groupBy(
    results.filter((one) => !one.augmented),
    (one) => one.group,
  ))
    console.log(
      `  ${group}: ${own.length}, ${(own.reduce((s, o) => s + o.short, 0) / own.length).toFixed(2)}, ${(own.reduce((s, o) => s + o.long, 0) / own.length).toFixed(2)}`,
    );
}

/** The share of the labelled lines that the reader keeps within a budget of tokens. */
function keptShare({ log, wanted, weighed, candidates }: LabelledLog, scores: Float32Array, budget: number): number {
  const ranked = candidates.lines.map((one, i) => ({ ...one, score: scores[i] ?? 0, proof: 0 }));
  const { excerpts } = reduceLogs([{ log, blocks: placeRanked(ranked, weighed) }], budget);
  return coveredShare(
    wanted,
    excerpts.map(({ lineStart, lineEnd }) => [lineStart, lineEnd]),
  );
}

/** Whether the line that would be the headline is a labelled one. */
function firstTells({ candidates, labels }: LabelledLog, scores: Float32Array): boolean {
  const causes = [...candidates.lines.keys()].filter((i) => candidates.lines[i]?.role === 'cause');
  const first = causes.reduce((best, i) => ((scores[i] ?? 0) > (scores[best] ?? 0) ? i : best), causes[0] ?? 0);
  return labels[first] === 1;
}

function groupOf(one: LabelledLog): string {
  if (asked.by === 'source') return one.set;
  return asked.by === 'language' ? (one.language ?? one.project) : one.project;
}

/** The words of each log are weighed by a regression that did not see its project, so that the trees learn how far to trust it. */
function train(own: readonly LabelledLog[]): RankModel {
  const samples = own.map((one) => ({ one, buckets: one.sampled.map((i) => bucketsOf(one.candidates.lines[i]?.text ?? '')) }));
  type Sample = (typeof samples)[number];
  const words = (chosen: readonly Sample[]): WordWeights => {
    const buckets = chosen.flatMap((sample) => sample.buckets);
    const labels = Uint8Array.from(chosen.flatMap(({ one }) => one.sampled.map((i) => one.labels[i] ?? 0)));
    const weights = Float32Array.from(chosen.flatMap(({ one }) => one.weights));
    return fitWords({ buckets, labels, weights }, shuffled(buckets.length));
  };
  const folds = foldsBy(samples, ({ one }) => groupOf(one), 4);
  const rows: Row[] = [];
  for (const fold of folds) {
    const inFold = new Set(fold);
    const weighed = words(samples.filter((sample) => !inFold.has(sample)));
    for (const { one } of fold) {
      const all = rowsOf(
        one.candidates,
        Float32Array.from(one.candidates.lines, ({ text }) => wordScore(weighed, text)),
      );
      for (const [k, i] of one.sampled.entries()) {
        const values = all.subarray(i * COLUMNS.length, (i + 1) * COLUMNS.length);
        rows.push({ values, label: one.labels[i] ?? 0, weight: one.weights[k] ?? 0, isProof: !PASSAGES.has(one.set) });
      }
    }
  }
  return { ...words(samples), keeping: trees(rows), proving: trees(rows.filter(({ isProof }) => isProof)) };
}

interface Row {
  readonly values: Float32Array;
  readonly label: number;
  readonly weight: number;
  readonly isProof: boolean;
}

function trees(rows: readonly Row[]): Tree[] {
  const values = new Float32Array(rows.length * COLUMNS.length);
  for (const [i, row] of rows.entries()) values.set(row.values, i * COLUMNS.length);
  const labels = Uint8Array.from(rows, ({ label }) => label);
  const weights = Float32Array.from(rows, ({ weight }) => weight);
  return fitTrees({ values, width: COLUMNS.length, labels, weights }, OPTIONS);
}

function asRow({ columns, thresholds, rights }: Tree) {
  return [columns, thresholds, rights];
}

/** A fixed order that looks like chance. */
function shuffled(count: number): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  let state = 12_345;
  for (let i = count - 1; i > 0; i--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const j = Math.floor((state / 4_294_967_296) * (i + 1));
    [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
  }
  return order;
}

function writeModel(path: string, model: RankModel): void {
  const { wordScale, wordWeights, keeping, proving } = model;
  const provenance = {
    command: 'scripts/train-ranking --data FOLDER',
    logs: Object.fromEntries(
      [
        ...Map.groupBy(
          logs.filter(({ augmented }) => !augmented),
          ({ set }) => set,
        ),
      ].map(([set, own]) => [set, own.length]),
    ),
  };
  const file = {
    provenance,
    buckets: BUCKETS,
    columns: COLUMNS,
    wordScale,
    words: Buffer.from(wordWeights.buffer, wordWeights.byteOffset, wordWeights.length).toString('base64'),
    keeping: keeping.map(asRow),
    proving: proving.map(asRow),
  };
  writeFileSync(join(path), `${JSON.stringify(file)}\n`);
}
