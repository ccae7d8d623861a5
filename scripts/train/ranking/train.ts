import { append } from '../../../src/lib/collections.ts';
import { hashToBuckets } from '../../../src/log/rank/features.ts';
import {
  buildRows,
  COLUMNS,
  computeWordScore,
  MAY_PROVE,
  type RankModel,
  type Tree,
} from '../../../src/log/rank/model.ts';
import { splitIntoFolds } from '../../../src/replay/cases/case.ts';
import { type BoostingOptions, fitTrees } from './boosting.ts';
import type { LabelledLog } from './labelled-logs.ts';
import { fitWords, type WordWeights } from './logistic.ts';

/** The options were set by hand. Larger leaves made no difference in cross-validation. */
const KEEPING = { trees: 100, leaves: 16, rate: 0.1, least: 0.15, penalty: 0.3 } as const;
/** The weights of rows are counted in logs, so that no leaf represents only the lines of one small log. */
const PROVING = { ...KEEPING, penalty: 1, trees: 200, rate: 0.05, least: 2 } as const;
/** Data sets whose labels are whole passages instead of the fewest lines that prove the cause. */
const PASSAGES: ReadonlySet<string> = new Set(['reduce/logchunks.jsonl', 'reduce/cidiff.jsonl']);
/** The lines of a log from which the words are learned. */
interface WordSample {
  readonly one: LabelledLog;
  readonly buckets: readonly (readonly number[])[];
  readonly labels: readonly number[];
  readonly weights: readonly number[];
}

function createWordSample(labelledLog: LabelledLog, withInserted: boolean): WordSample {
  const getLine = (k: number) => labelledLog.candidates.lines[labelledLog.sampled[k] ?? -1];
  const taught = [...labelledLog.sampled.keys()].filter(
    (k) => withInserted || !labelledLog.inserted.includes(getLine(k)?.line ?? 0),
  );
  return {
    one: labelledLog,
    buckets: taught.map((k) => hashToBuckets(getLine(k)?.text ?? '')),
    labels: taught.map((k) => labelledLog.labels[labelledLog.sampled[k] ?? -1] ?? 0),
    weights: taught.map((k) => labelledLog.weights[k] ?? 0),
  };
}

function createWordWeights(chosen: readonly WordSample[]): WordWeights {
  const buckets = chosen.flatMap((sample) => sample.buckets);
  const labels = Uint8Array.from(chosen.flatMap((sample) => sample.labels));
  const weights = Float32Array.from(chosen.flatMap((sample) => sample.weights));
  return fitWords({ buckets, labels, weights }, shuffleNumbers(buckets.length));
}

/**
 * Trains the ranking. The words of each log are weighed by a regression that saw neither its project nor any inserted line, so that the trees learn how far to
 * trust it: inserted lines come back in many logs. The model's own words know all of them.
 */
export function train(own: readonly LabelledLog[], groupOf: (labelledLog: LabelledLog) => string): RankModel {
  const samples = own.map((labelledLog) => createWordSample(labelledLog, false));
  const folds = splitIntoFolds(samples, ({ one }) => groupOf(one), 4);
  const [keeping, proving]: [Row[], Row[]] = [[], []];
  for (const fold of folds) {
    const inFold = new Set(fold);
    const weighed = createWordWeights(samples.filter((sample) => !inFold.has(sample)));
    for (const { one } of fold) {
      const rows = createLabeledRows(one, weighed);
      if (!one.again) append(keeping, rows);
      if (!PASSAGES.has(one.set)) append(proving, spreadEvenly(rows.filter(({ mayProve }) => mayProve)));
    }
  }
  return {
    ...createWordWeights(own.map((labelledLog) => createWordSample(labelledLog, true))),
    keeping: growTrees(keeping, KEEPING),
    proving: growTrees(proving, PROVING),
  };
}

interface Row {
  readonly values: Float32Array;
  readonly label: number;
  readonly weight: number;
  readonly mayProve: boolean;
}

/** Returns the rows of one log for training. */
function createLabeledRows(labelledLog: LabelledLog, weighed: WordWeights): Row[] {
  const scores = Float32Array.from(labelledLog.candidates.lines, ({ text }) =>
    computeWordScore(weighed, text),
  );
  const all = buildRows(labelledLog.candidates, scores);
  return labelledLog.sampled.map((i, k) => ({
    values: all.subarray(i * COLUMNS.length, (i + 1) * COLUMNS.length),
    label: labelledLog.labels[i] ?? 0,
    weight: labelledLog.weights[k] ?? 0,
    mayProve: MAY_PROVE.has(labelledLog.candidates.lines[i]?.role ?? 'blank'),
  }));
}

/** Weighs the lines that may prove a cause: the labeled ones of a log together get 1, and the others 2. */
function spreadEvenly(rows: readonly Row[]): Row[] {
  const labelled = rows.filter(({ label }) => label === 1).length;
  if (labelled === 0 || labelled === rows.length) return [];
  return rows.map((row) => ({
    ...row,
    weight: row.label === 1 ? 1 / labelled : 2 / (rows.length - labelled),
  }));
}

function growTrees(rows: readonly Row[], options: BoostingOptions): Tree[] {
  const values = new Float32Array(rows.length * COLUMNS.length);
  for (const [i, row] of rows.entries()) values.set(row.values, i * COLUMNS.length);
  const labels = Uint8Array.from(rows, ({ label }) => label);
  const weights = Float32Array.from(rows, ({ weight }) => weight);
  return fitTrees({ values, width: COLUMNS.length, labels, weights }, options);
}

/** Returns a fixed order that resembles a random one. */
function shuffleNumbers(count: number): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  let state = 12_345;
  for (let i = count - 1; i > 0; i--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const j = Math.floor((state / 4_294_967_296) * (i + 1));
    [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
  }
  return order;
}
