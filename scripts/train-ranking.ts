import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  BUCKETS,
  bucketsOf,
  COLUMNS,
  MAY_PROVE,
  type RankModel,
  rowsOf,
  scoreCandidates,
  type Tree,
  wordScore,
} from '../src/log/rank/model.ts';
import { placeRanked, rankedMessages } from '../src/log/rank/ranked.ts';
import { reduceLogs } from '../src/log/reduce/reduce.ts';
import { foldsBy } from '../src/replay/cases/project-folds.ts';
import { coveredShare } from '../src/replay/figures/line-ranges.ts';
import { type BoostingOptions, fitTrees } from './ranking/boosting.ts';
import { type LabelledLog, labelledLogs } from './ranking/labelled-logs.ts';
import { fitWords, type WordWeights } from './ranking/logistic.ts';

/** Set by hand; larger leaves were compared on the folds and made no difference. */
const KEEPING = { trees: 100, leaves: 16, rate: 0.1, least: 0.15, penalty: 0.3 } as const;
/** Its weights are counted in logs, so that no leaf stands for the lines of one small log alone. */
const PROVING = { ...KEEPING, least: 1, penalty: 1 } as const;
const FOLDS = 5;
/** Sets whose labels are whole passages, not the fewest lines that prove the cause. */
const PASSAGES: ReadonlySet<string> = new Set(['reduce/logchunks.jsonl', 'reduce/cidiff.jsonl']);
const USAGE = `Learns the ranking of lines from labelled logs.

  --data FOLDER   the labelled logs (required)
  --out FILE      write the model, with its cross-validated figures
  --check FILE    make the model anew and say whether it is this file, byte for byte
  --by WHAT       what a fold leaves out: project (default), language or source; other than project, nothing is written
  --no-folds      no cross-validation, to try something`;

/** What became of a log that the model did not see. */
interface Held {
  readonly set: string;
  readonly group: string;
  readonly augmented: boolean;
  readonly short: number;
  readonly long: number;
  readonly first: number;
}

const { values: asked } = parseArgs({
  allowNegative: true,
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
    check: { type: 'string' },
    by: { type: 'string', default: 'project' },
    folds: { type: 'boolean', default: true },
  },
});
if (asked.data === undefined || !['project', 'language', 'source'].includes(asked.by)) {
  console.error(USAGE);
  process.exit(2);
}
const logs = await labelledLogs(asked.data);
const ids = new Set(logs.map(({ id }) => id));
console.log(
  `${logs.length} readings of ${ids.size} logs, ${logs.reduce((sum, one) => sum + one.candidates.lines.length, 0)} candidate lines`,
);
const held = asked.folds ? crossValidate() : [];
const figures = [false, true].flatMap((augmented) => figuresOf(held.filter((one) => one.augmented === augmented)));
for (const line of figures) console.log(line);
if (asked.by === 'language') for (const line of byGroup(held)) console.log(line);
if (asked.by === 'project' && asked.out !== undefined) writeFileSync(asked.out, modelText(train(logs)));
if (asked.by === 'project' && asked.check !== undefined) {
  const isSame = modelText(train(logs)) === readFileSync(asked.check, 'utf8');
  console.log(isSame ? `${asked.check} is what these logs make, byte for byte.` : `${asked.check} is not what these logs make.`);
  if (!isSame) process.exitCode = 1;
}

/** Trains on the logs of all other groups for each, and tells what of the labelled lines is kept. */
function crossValidate(): Held[] {
  return foldsBy(logs, groupOf, FOLDS).flatMap((fold) => {
    const groups = new Set(fold.map(groupOf));
    const model = train(logs.filter((one) => !groups.has(groupOf(one))));
    return fold.flatMap((one): Held[] => {
      if (one.again) return [];
      const { keeping, proving } = scoreCandidates(model, one.candidates);
      const [short = 0, long = 0] = [2_000, 8_000].map((budget) => keptShare(one, keeping, budget));
      return [{ set: one.set, group: groupOf(one), augmented: one.augmented, short, long, first: firstTells(one, proving) ? 1 : 0 }];
    });
  });
}

function figuresOf(own: readonly Held[]): string[] {
  return Array.from(
    Map.groupBy(own, ({ set }) => set),
    ([set, some]) => {
      const readers = some[0]?.augmented === true ? ' without readers of named tools' : '';
      return `${set}${readers}: ${some.length} logs, kept at 2,000 tokens ${mean(some, 'short')}, at 8,000 ${mean(some, 'long')}, first line labelled ${mean(some, 'first')}`;
    },
  );
}

function byGroup(own: readonly Held[]): string[] {
  const read = own.filter(({ augmented }) => !augmented);
  return Array.from(
    Map.groupBy(read, ({ group }) => group),
    ([group, some]) => `  ${group}: ${some.length} logs, ${mean(some, 'short')}, ${mean(some, 'long')}`,
  );
}

function mean(some: readonly Held[], figure: 'short' | 'long' | 'first'): string {
  return (some.reduce((sum, one) => sum + one[figure], 0) / some.length).toFixed(3);
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

/** Whether the headline is a labelled line. */
function firstTells({ candidates, found, structure, wanted }: LabelledLog, proving: Float32Array): boolean {
  const ranked = candidates.lines.map((one, i) => ({ ...one, score: 0, proof: proving[i] ?? 0 }));
  const line = rankedMessages('log', found, structure, ranked)[0]?.at?.line ?? 0;
  return wanted.some(([start, end]) => line >= start && line <= end);
}

function groupOf(one: LabelledLog): string {
  if (asked.by === 'source') return one.set;
  return asked.by === 'language' ? (one.language ?? one.project) : one.project;
}

/** The lines of a log that the words are learned from. */
interface WordSample {
  readonly one: LabelledLog;
  readonly buckets: readonly (readonly number[])[];
  readonly labels: readonly number[];
  readonly weights: readonly number[];
}

function wordSample(one: LabelledLog, withInserted: boolean): WordSample {
  const lineOf = (k: number) => one.candidates.lines[one.sampled[k] ?? -1];
  const taught = [...one.sampled.keys()].filter((k) => withInserted || !one.inserted.includes(lineOf(k)?.line ?? 0));
  return {
    one,
    buckets: taught.map((k) => bucketsOf(lineOf(k)?.text ?? '')),
    labels: taught.map((k) => one.labels[one.sampled[k] ?? -1] ?? 0),
    weights: taught.map((k) => one.weights[k] ?? 0),
  };
}

function words(chosen: readonly WordSample[]): WordWeights {
  const buckets = chosen.flatMap((sample) => sample.buckets);
  const labels = Uint8Array.from(chosen.flatMap((sample) => sample.labels));
  const weights = Float32Array.from(chosen.flatMap((sample) => sample.weights));
  return fitWords({ buckets, labels, weights }, shuffled(buckets.length));
}

/**
 * The words of each log are weighed by a regression that saw neither its project nor any inserted line, so that the trees learn how far to
 * trust it: inserted lines come back in many logs. The model's own words know all of them.
 */
function train(own: readonly LabelledLog[]): RankModel {
  const samples = own.map((one) => wordSample(one, false));
  const folds = foldsBy(samples, ({ one }) => groupOf(one), 4);
  const [keeping, proving]: [Row[], Row[]] = [[], []];
  for (const fold of folds) {
    const inFold = new Set(fold);
    const weighed = words(samples.filter((sample) => !inFold.has(sample)));
    for (const { one } of fold) {
      const rows = labelledRows(one, weighed);
      if (!one.again) keeping.push(...rows);
      if (!PASSAGES.has(one.set)) proving.push(...evenly(rows.filter(({ mayProve }) => mayProve)));
    }
  }
  return { ...words(own.map((one) => wordSample(one, true))), keeping: trees(keeping, KEEPING), proving: trees(proving, PROVING) };
}

interface Row {
  readonly values: Float32Array;
  readonly label: number;
  readonly weight: number;
  readonly mayProve: boolean;
}

/** The rows of one log that are learned from. */
function labelledRows(one: LabelledLog, weighed: WordWeights): Row[] {
  const scores = Float32Array.from(one.candidates.lines, ({ text }) => wordScore(weighed, text));
  const all = rowsOf(one.candidates, scores);
  return one.sampled.map((i, k) => ({
    values: all.subarray(i * COLUMNS.length, (i + 1) * COLUMNS.length),
    label: one.labels[i] ?? 0,
    weight: one.weights[k] ?? 0,
    mayProve: MAY_PROVE.has(one.candidates.lines[i]?.role ?? 'blank'),
  }));
}

/** Among the lines that may prove, the labelled ones of a log together weigh 1, and the others 2. */
function evenly(rows: readonly Row[]): Row[] {
  const labelled = rows.filter(({ label }) => label === 1).length;
  if (labelled === 0 || labelled === rows.length) return [];
  return rows.map((row) => ({ ...row, weight: row.label === 1 ? 1 / labelled : 2 / (rows.length - labelled) }));
}

function trees(rows: readonly Row[], options: BoostingOptions): Tree[] {
  const values = new Float32Array(rows.length * COLUMNS.length);
  for (const [i, row] of rows.entries()) values.set(row.values, i * COLUMNS.length);
  const labels = Uint8Array.from(rows, ({ label }) => label);
  const weights = Float32Array.from(rows, ({ weight }) => weight);
  return fitTrees({ values, width: COLUMNS.length, labels, weights }, options);
}

function asRow({ columns, thresholds, rights }: Tree) {
  return [Array.from(columns), Array.from(thresholds), Array.from(rights)];
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

/** The model's file: numbers only, with what they were learned from and what they are worth. */
function modelText({ wordScale, wordWeights, keeping, proving }: RankModel): string {
  const read = logs.filter(({ augmented, again }) => !augmented && !again);
  const sizes = Object.fromEntries(
    Array.from(
      Map.groupBy(read, ({ set }) => set),
      ([set, own]) => [set, own.length],
    ),
  );
  const provenance = {
    command: 'node scripts/train-ranking.ts --data FOLDER --out src/log/rank/model.json',
    logs: sizes,
    crossValidatedByProject: figures,
  };
  const words = Buffer.from(wordWeights.buffer, wordWeights.byteOffset, wordWeights.length).toString('base64');
  const file = {
    provenance,
    buckets: BUCKETS,
    columns: COLUMNS,
    wordScale,
    words,
    keeping: keeping.map(asRow),
    proving: proving.map(asRow),
  };
  return `${JSON.stringify(file)}\n`;
}
