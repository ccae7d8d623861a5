import { z } from 'zod';
import { findFirstPlace } from '../../lib/collections.ts';
import type { LineRole } from '../line-roles.ts';
import { BUCKETS, type Candidate, type Candidates, FACTS, hashToBuckets } from './features.ts';
import stored from './model.json' with { type: 'json' };

/**
 * The inputs of the trees: the facts of a line, then the scores of its words and of the words of the lines
 * around it.
 */
export const COLUMNS = [
  ...FACTS,
  ...([
    'words',
    'wordsAbove',
    'wordsBelow',
    'wordsBest3',
    'wordsBest10',
    'wordsMean5',
    'wordsPlace',
    'wordsBestBefore',
  ] as const),
] as const;

/** The learned parameters of the ranking. */
export interface RankModel {
  readonly wordScale: number;
  /** The weight of each bucket, as one signed byte. */
  readonly wordWeights: Int8Array;
  /** The trees that rank lines by whether they are worth keeping, including whole passages. */
  readonly keeping: readonly Tree[];
  /** The trees that rank lines by whether they prove the cause. */
  readonly proving: readonly Tree[];
}

const Trees = z
  .array(z.tuple([z.array(z.number()), z.array(z.number()), z.array(z.number())]))
  .transform((trees) =>
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

/** Returns the model in this folder. Its file is read once. */
export function rankModel(): RankModel {
  loaded ??= parseModel(stored);
  return loaded;
}

/** Replaces the model, for measurements on a project that the other model was not trained on. */
export function useRankModel(model: RankModel): void {
  loaded = model;
}

/**
 * Reads a model's file. Throws if it was trained for other columns; then
 * `node scripts/train/train-ranking.ts` must be run.
 */
function parseModel(value: unknown): RankModel {
  const file = ModelFile.parse(value);
  if (file.columns.join() !== COLUMNS.join())
    throw new Error(
      'The ranking model was trained for other columns; run node scripts/train/train-ranking.ts.',
    );
  const bytes = Buffer.from(file.words, 'base64');
  return {
    wordScale: file.wordScale,
    wordWeights: new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length),
    keeping: file.keeping,
    proving: file.proving,
  };
}

/** The roles of lines that can prove a cause. */
export const MAY_PROVE: ReadonlySet<LineRole> = new Set(['cause', 'notice', 'wrapper']);
const NO_PROOF = -50;

/**
 * Scores how worth keeping each candidate of one log is, and how well it proves the cause, as log-odds. Only
 * the order of scores is meaningful.
 */
export function scoreCandidates(model: RankModel, candidates: Candidates) {
  const { lines } = candidates;
  const rows = buildRows(
    candidates,
    Float32Array.from(lines, ({ text }) => computeWordScore(model, text)),
  );
  const width = COLUMNS.length;
  const [keep, prove] = [getTreeSum(model.keeping), getTreeSum(model.proving)];
  const [keeping, proving] = [new Float32Array(lines.length), new Float32Array(lines.length).fill(NO_PROOF)];
  for (const [i, { role }] of lines.entries()) {
    keeping[i] = keep(rows, i * width);
    if (MAY_PROVE.has(role)) proving[i] = prove(rows, i * width);
  }
  return { keeping, proving };
}

const sums = new WeakMap<readonly Tree[], ReturnType<typeof createTreeSum>>();

function getTreeSum(trees: readonly Tree[]): ReturnType<typeof createTreeSum> {
  const sum = sums.get(trees) ?? createTreeSum(trees, COLUMNS.length);
  sums.set(trees, sum);
  return sum;
}

/** Computes the score of a line's words. */
export function computeWordScore(model: Pick<RankModel, 'wordScale' | 'wordWeights'>, text: string): number {
  const buckets = hashToBuckets(text);
  let sum = 0;
  for (const bucket of buckets) sum += model.wordWeights[bucket] ?? 0;
  return (sum * model.wordScale) / Math.sqrt(Math.max(4, buckets.length));
}

/** Builds one row of {@link COLUMNS} for each candidate from its facts and words. */
export function buildRows({ lines, facts }: Candidates, words: Float32Array): Float32Array {
  const [width, factCount] = [COLUMNS.length, FACTS.length];
  const rows = new Float32Array(lines.length * width);
  const order = Float32Array.from(words).sort();
  let best = -50;
  for (const [i, { line }] of lines.entries()) {
    const row = i * width;
    rows.set(facts.subarray(i * factCount, (i + 1) * factCount), row);
    const score = words[i] ?? 0;
    const { best3, best10, mean5 } = findNearbyWeights(lines, words, i, line);
    const [above, below] = [
      getUnknownWords(lines, words, i - 1, line - 1),
      getUnknownWords(lines, words, i + 1, line + 1),
    ];
    rows.set([score, above, below, best3, best10, mean5, placeIn(order, score), best], row + factCount);
    if (score > best) best = score;
  }
  return rows;
}

const UNKNOWN = -8;

function getUnknownWords(lines: readonly Candidate[], words: Float32Array, i: number, line: number): number {
  return lines[i]?.line === line ? (words[i] ?? UNKNOWN) : UNKNOWN;
}

/**
 * Returns the best word score within three and within ten lines of a line, and the mean within five lines.
 * The line itself is excluded.
 */
function findNearbyWeights(
  lines: readonly Candidate[],
  words: Float32Array,
  i: number,
  line: number,
): Record<'best3' | 'best10' | 'mean5', number> {
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

/** Returns the share of all candidates with a lower score. */
function placeIn(order: Float32Array, score: number): number {
  return findFirstPlace(order.length, (place) => (order[place] ?? 0) < score) / Math.max(1, order.length);
}

/**
 * One decision tree as flat arrays. A leaf has column -1, and its value as threshold. A value up to the
 * threshold goes to the left child, which is the next node.
 */
export interface Tree {
  readonly columns: ArrayLike<number>;
  readonly thresholds: ArrayLike<number>;
  /** Index of the right child. */
  readonly rights: ArrayLike<number>;
}

/**
 * The maximum number of leaves of a tree: the leaves are the bits of two bytes, and so are the cuts, of which
 * there is one less.
 */
const MAX_LEAVES = 16;
const BYTE = 256;

/**
 * Creates a function that sums the leaves of all trees for the row of values that begins at an index. Trees
 * are not traversed. As in QuickScorer (Lucchese et al., 2015), each cut that a value exceeds excludes the
 * leaves on its left, and the leftmost remaining leaf of each tree counts. Only the cuts between the values
 * of this row and of the previous one are processed, because rows of one log are similar. Throws RangeError
 * if a tree has more than 16 leaves.
 */
export function createTreeSum(
  trees: readonly Tree[],
  width: number,
): (rows: Float32Array, row: number) => number {
  const leaves = new Float64Array(trees.length * MAX_LEAVES);
  /** The remaining leaves, by tree and by each byte of its exceeded cuts. */
  const remaining = new Uint16Array(trees.length * 2 * BYTE).fill(-1);
  const cuts = trees.flatMap((tree, owner) => collectCuts(tree, owner, leaves, remaining));
  cuts.sort((a, b) => a.column - b.column || a.threshold - b.threshold);
  const thresholds = Float64Array.from(cuts, ({ threshold }) => threshold);
  const owners = Uint16Array.from(cuts, ({ owner }) => owner);
  const bits = Uint16Array.from(cuts, ({ bit }) => bit);
  const begins = Uint16Array.from(
    { length: width + 1 },
    (_, column) => cuts.filter((cut) => cut.column < column).length,
  );
  /**
   * The first cut of each column that its last value did not exceed, and the cuts of each tree that the last
   * values exceeded.
   */
  const [places, passed] = [begins.slice(), new Uint16Array(trees.length)];
  // All indices are in range. Checking for undefined would take as long as the sum.
  return (rows, row) => {
    for (let column = 0; column < width; column++) {
      const value = rows[row + column] as number;
      const [begin, end] = [begins[column] as number, begins[column + 1] as number];
      let place = places[column] as number;
      for (; place < end && value > (thresholds[place] as number); place++)
        passed[owners[place] as number] =
          (passed[owners[place] as number] as number) ^ (bits[place] as number);
      for (; place > begin && value <= (thresholds[place - 1] as number); place--)
        passed[owners[place - 1] as number] =
          (passed[owners[place - 1] as number] as number) ^ (bits[place - 1] as number);
      places[column] = place;
    }
    let sum = 0;
    for (let tree = 0; tree < passed.length; tree++) {
      const cut = passed[tree] as number;
      const table = tree * 2 * BYTE;
      const left =
        (remaining[table + (cut & 0xff)] as number) & (remaining[table + BYTE + (cut >> 8)] as number);
      sum += leaves[tree * MAX_LEAVES + 31 - Math.clz32(left & -left)] as number;
    }
    return sum;
  };
}

/** Returns the cuts of one tree. Fills in the values of its leaves, and the leaves that its cuts exclude. */
function collectCuts(
  { columns, thresholds, rights }: Tree,
  owner: number,
  leaves: Float64Array,
  remaining: Uint16Array,
) {
  const cuts: { column: number; threshold: number; owner: number; bit: number }[] = [];
  /** The number of leaves before each node. Leaves are stored from left to right. */
  const before: number[] = [];
  let count = 0;
  for (const [node, column] of Array.from(columns).entries()) {
    before.push(count);
    if (column < 0) leaves[owner * MAX_LEAVES + count++] = thresholds[node] ?? 0;
  }
  if (count > MAX_LEAVES) throw new RangeError(`A tree has more than ${MAX_LEAVES} leaves.`);
  for (const [node, column] of Array.from(columns).entries()) {
    if (column < 0) continue;
    const number = cuts.length;
    cuts.push({ column, threshold: thresholds[node] ?? 0, owner, bit: 1 << number });
    const [from, to] = [before[node] ?? 0, before[rights[node] ?? 0] ?? 0];
    const table = (2 * owner + (number >> 3)) * BYTE;
    for (let byte = 0; byte < BYTE; byte++)
      if ((byte >> (number & 7)) & 1)
        remaining[table + byte] = (remaining[table + byte] ?? 0) & ~((1 << to) - (1 << from));
  }
  return cuts;
}
