/** One tree as flat arrays: a leaf has column -1 and its value as threshold; a value up to the threshold goes left, to the next node. */
export interface Tree {
  readonly columns: ArrayLike<number>;
  readonly thresholds: ArrayLike<number>;
  /** Index of the right child. */
  readonly rights: ArrayLike<number>;
}

/** Leaves of a tree at most: one bit each, and one bit less for its cuts, in two bytes. */
const MAX_LEAVES = 16;
const BYTE = 256;

/**
 * Gives a function that sums the leaves of all trees for the row of values that begins at an index. No tree is walked. As in QuickScorer
 * (Lucchese et al., 2015) each cut that a value is above rules out the leaves on its left, and of what remains of a tree the leftmost leaf
 * counts. Of a row only the cuts between its values and those of the row before are looked at, since rows of one log are much alike. Throws
 * RangeError where a tree has more than 16 leaves.
 */
export function createTreeSum(trees: readonly Tree[], width: number): (rows: Float32Array, row: number) => number {
  const leaves = new Float64Array(trees.length * MAX_LEAVES);
  /** By tree and byte of its passed cuts: the leaves that remain. */
  const remaining = new Uint16Array(trees.length * 2 * BYTE).fill(-1);
  const cuts = trees.flatMap((tree, owner) => cutsOf(tree, owner, leaves, remaining));
  cuts.sort((a, b) => a.column - b.column || a.threshold - b.threshold);
  const thresholds = Float64Array.from(cuts, ({ threshold }) => threshold);
  const owners = Uint16Array.from(cuts, ({ owner }) => owner);
  const bits = Uint16Array.from(cuts, ({ bit }) => bit);
  const begins = Uint16Array.from({ length: width + 1 }, (_, column) => cuts.filter((cut) => cut.column < column).length);
  /** By column: the first cut that its last value was not above. By tree: the cuts that the last values were above. */
  const [places, passed] = [begins.slice(), new Uint16Array(trees.length)];
  // Indices are within the arrays: asking whether an element is missing would cost as much as the sum.
  return (rows, row) => {
    for (let column = 0; column < width; column++) {
      const value = rows[row + column] as number;
      const [begin, end] = [begins[column] as number, begins[column + 1] as number];
      let place = places[column] as number;
      for (; place < end && value > (thresholds[place] as number); place++)
        passed[owners[place] as number] = (passed[owners[place] as number] as number) ^ (bits[place] as number);
      for (; place > begin && value <= (thresholds[place - 1] as number); place--)
        passed[owners[place - 1] as number] = (passed[owners[place - 1] as number] as number) ^ (bits[place - 1] as number);
      places[column] = place;
    }
    let sum = 0;
    for (let tree = 0; tree < passed.length; tree++) {
      const cut = passed[tree] as number;
      const table = tree * 2 * BYTE;
      const left = (remaining[table + (cut & 0xff)] as number) & (remaining[table + BYTE + (cut >> 8)] as number);
      sum += leaves[tree * MAX_LEAVES + 31 - Math.clz32(left & -left)] as number;
    }
    return sum;
  };
}

interface Cut {
  readonly column: number;
  readonly threshold: number;
  readonly owner: number;
  readonly bit: number;
}

/** The cuts of one tree. Writes the values of its leaves, and what its cuts rule out. */
function cutsOf({ columns, thresholds, rights }: Tree, owner: number, leaves: Float64Array, remaining: Uint16Array): Cut[] {
  const cuts: Cut[] = [];
  /** How many leaves stand before each node: they are stored from left to right. */
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
      if ((byte >> (number & 7)) & 1) remaining[table + byte] = (remaining[table + byte] ?? 0) & ~((1 << to) - (1 << from));
  }
  return cuts;
}
