import { COLUMNS, type RankModel, rowsOf, wordScore } from '../../src/log/rank/model.ts';
import type { Tree } from '../../src/log/rank/trees.ts';
import { bucketsOf } from '../../src/log/rank/words.ts';
import { foldsBy } from '../../src/replay/cases/project-folds.ts';
import { fitTrees } from './boosting.ts';
import type { LabelledLog } from './labelled-logs.ts';
import { fitWords, type WordWeights } from './logistic.ts';

/** Set by hand and not searched for; other numbers of trees were not compared. */
const OPTIONS = { trees: 100, leaves: 16, rate: 0.1, least: 0.15, penalty: 0.3 } as const;
/** Sets whose labels are whole passages, not the fewest lines that prove the cause. */
const PASSAGES: ReadonlySet<string> = new Set(['reduce/logchunks.jsonl', 'reduce/cidiff.jsonl']);
/** Trains the ranking. The words of each log are weighed by a regression that did not see its project, so that the trees learn how far to trust it. */
export function train(own: readonly LabelledLog[], groupOf: (one: LabelledLog) => string): RankModel {
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
