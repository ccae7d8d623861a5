import { z } from 'zod';
import type { LineRole } from '../roles.ts';
import type { Candidates } from './features.ts';
import { FACTS } from './features.ts';
import stored from './model.json' with { type: 'json' };
import type { Candidate } from './surroundings.ts';
import { createTreeSum, type Tree } from './trees.ts';
import { BUCKETS, bucketsOf } from './words.ts';

/** What the trees see: the facts of a line, then what its words and those of the lines around it weigh. */
export const COLUMNS = [
  ...FACTS,
  ...(['words', 'wordsAbove', 'wordsBelow', 'wordsBest3', 'wordsBest10', 'wordsMean5', 'wordsPlace', 'wordsBestBefore'] as const),
] as const;

/** What was learned, and from what. */
export interface RankModel {
  readonly wordScale: number;
  /** One signed byte a bucket. */
  readonly wordWeights: Int8Array;
  /** Rank the lines that are worth keeping, whole passages among them. */
  readonly keeping: readonly Tree[];
  /** Rank the few lines that prove the cause. */
  readonly proving: readonly Tree[];
}

const Trees = z.array(z.tuple([z.array(z.number()), z.array(z.number()), z.array(z.number())])).transform((trees) =>
  trees.map(
    ([columns, thresholds, rights]): Tree => ({
      columns: Int8Array.from(columns),
      thresholds: Float64Array.from(thresholds),
      rights: Uint8Array.from(rights),
    }),
  ),
);

const ModelFile = z.object({
  provenance: z.record(z.string(), z.unknown()),
  buckets: z.literal(BUCKETS),
  columns: z.array(z.string()),
  wordScale: z.number(),
  words: z.string(),
  keeping: Trees,
  proving: Trees,
});

let loaded: RankModel | undefined;

/** The model in this folder, read once. */
export function rankModel(): RankModel {
  loaded ??= parseModel(stored);
  return loaded;
}

/** Ranks by another model from now on: one that did not see the project that is measured. */
export function useRankModel(model: RankModel): void {
  loaded = model;
}

/** Reads a model's file. Throws where it was trained for other columns: train it again (`node scripts/train-ranking.ts`). */
function parseModel(value: unknown): RankModel {
  const file = ModelFile.parse(value);
  if (file.columns.join() !== COLUMNS.join())
    throw new Error('The ranking model was trained for other columns; run node scripts/train-ranking.ts.');
  const bytes = Buffer.from(file.words, 'base64');
  return {
    wordScale: file.wordScale,
    wordWeights: new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length),
    keeping: file.keeping,
    proving: file.proving,
  };
}

/** How well each candidate is worth keeping, and how well it proves the cause, as log-odds; only their order means something. */
export interface Scores {
  readonly keeping: Float32Array;
  readonly proving: Float32Array;
}

/** Lines of other roles prove nothing. */
export const MAY_PROVE: ReadonlySet<LineRole> = new Set(['cause', 'notice', 'wrapper']);
const NO_PROOF = -50;

/** Scores all candidates of one log. */
export function scoreCandidates(model: RankModel, candidates: Candidates): Scores {
  const { lines } = candidates;
  const rows = rowsOf(
    candidates,
    Float32Array.from(lines, ({ text }) => wordScore(model, text)),
  );
  const width = COLUMNS.length;
  const [keep, prove] = [treeSum(model.keeping), treeSum(model.proving)];
  const [keeping, proving] = [new Float32Array(lines.length), new Float32Array(lines.length).fill(NO_PROOF)];
  for (const [i, { role }] of lines.entries()) {
    keeping[i] = keep(rows, i * width);
    if (MAY_PROVE.has(role)) proving[i] = prove(rows, i * width);
  }
  return { keeping, proving };
}

const sums = new WeakMap<readonly Tree[], ReturnType<typeof createTreeSum>>();

function treeSum(trees: readonly Tree[]): ReturnType<typeof createTreeSum> {
  const sum = sums.get(trees) ?? createTreeSum(trees, COLUMNS.length);
  sums.set(trees, sum);
  return sum;
}

/** What the words of a line weigh. */
export function wordScore(model: Pick<RankModel, 'wordScale' | 'wordWeights'>, text: string): number {
  const buckets = bucketsOf(text);
  let sum = 0;
  for (const bucket of buckets) sum += model.wordWeights[bucket] ?? 0;
  return (sum * model.wordScale) / Math.sqrt(Math.max(4, buckets.length));
}

/** Facts and words of all candidates, one row of {@link COLUMNS} each. */
export function rowsOf({ lines, facts }: Candidates, words: Float32Array): Float32Array {
  const [width, own] = [COLUMNS.length, FACTS.length];
  const rows = new Float32Array(lines.length * width);
  const order = Float32Array.from(words).sort();
  let best = -50;
  for (const [i, { line }] of lines.entries()) {
    const row = i * width;
    rows.set(facts.subarray(i * own, (i + 1) * own), row);
    const score = words[i] ?? 0;
    const { best3, best10, mean5 } = nearby(lines, words, i, line);
    const [above, below] = [at(lines, words, i - 1, line - 1), at(lines, words, i + 1, line + 1)];
    rows.set([score, above, below, best3, best10, mean5, placeIn(order, score), best], row + own);
    if (score > best) best = score;
  }
  return rows;
}

const UNKNOWN = -8;

function at(lines: readonly Candidate[], words: Float32Array, i: number, line: number): number {
  return lines[i]?.line === line ? (words[i] ?? UNKNOWN) : UNKNOWN;
}

/** The best of the lines within three and within ten of a line, and the mean of those within five; itself is not among them. */
function nearby(lines: readonly Candidate[], words: Float32Array, i: number, line: number): Record<'best3' | 'best10' | 'mean5', number> {
  let [best3, best10, sum, count] = [UNKNOWN, UNKNOWN, 0, 0];
  for (const step of [-1, 1]) {
    for (let j = i + step; j >= 0 && j < lines.length; j += step) {
      const distance = Math.abs((lines[j]?.line ?? 0) - line);
      if (distance > 10) break;
      const value = words[j] ?? UNKNOWN;
      if (value > best10) best10 = value;
      if (distance <= 3 && value > best3) best3 = value;
      if (distance <= 5) {
        sum += value;
        count++;
      }
    }
  }
  return { best3, best10, mean5: count === 0 ? UNKNOWN : sum / count };
}

/** The share of all candidates that weigh no more. */
function placeIn(order: Float32Array, score: number): number {
  let [low, high] = [0, order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((order[middle] ?? 0) < score) low = middle + 1;
    else high = middle;
  }
  return low / Math.max(1, order.length);
}
