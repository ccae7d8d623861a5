/** One tree as flat arrays: a leaf has column -1 and its value as threshold; a value up to the threshold goes left, to the next node. */
export interface Tree {
  readonly columns: ArrayLike<number>;
  readonly thresholds: ArrayLike<number>;
  /** Index of the right child. */
  readonly rights: ArrayLike<number>;
}

/** Leaves of a tree at most: one bit each. */
const MAX_LEAVES = 32;

/**
 * Gives a function that sums the leaves of all trees for the row of values that begins at an index. No tree is walked (Lucchese et al.,
 * QuickScorer, 2015): each value rules out the leaves to the left of the cuts below it, column by column, and of what remains of a tree the
 * leftmost leaf counts. Throws RangeError where a tree has more than 32 leaves.
 */
export function createTreeSum(trees: readonly Tree[], width: number): (rows: Float32Array, row: number) => number {
  const leaves = new Float64Array(trees.length * MAX_LEAVES);
  const cuts = trees.flatMap((tree, owner) => cutsOf(tree, owner, leaves)).sort((a, b) => a.column - b.column || a.threshold - b.threshold);
  const ends = Uint16Array.from({ length: width }, (_, column) => cuts.filter((cut) => cut.column <= column).length);
  const thresholds = Float64Array.from(cuts, ({ threshold }) => threshold);
  const owners = Uint16Array.from(cuts, ({ owner }) => owner);
  const masks = Int32Array.from(cuts, ({ mask }) => mask);
  const left = new Int32Array(trees.length);
  // Indices are within the arrays: what a missing element would become costs as much as the sum.
  return (rows, row) => {
    left.fill(-1);
    let cut = 0;
    for (let column = 0; column < width; column++) {
      const value = rows[row + column] as number;
      const end = ends[column] as number;
      for (; cut < end && value > (thresholds[cut] as number); cut++) {
        const owner = owners[cut] as number;
        left[owner] = (left[owner] as number) & (masks[cut] as number);
      }
      cut = end;
    }
    let sum = 0;
    for (let tree = 0; tree < left.length; tree++) {
      const bits = left[tree] as number;
      sum += leaves[tree * MAX_LEAVES + 31 - Math.clz32(bits & -bits)] as number;
    }
    return sum;
  };
}

interface Cut {
  readonly column: number;
  readonly threshold: number;
  readonly owner: number;
  /** The leaves that a value above the threshold leaves. */
  readonly mask: number;
}

/** The cuts of one tree. Adds the values of its leaves. */
function cutsOf({ columns, thresholds, rights }: Tree, owner: number, leaves: Float64Array): Cut[] {
  /** How many leaves stand before a node: they are stored from left to right. */
  const before = Uint8Array.from(
    { length: columns.length },
    (_, node) =>
      Array.from(columns)
        .slice(0, node)
        .filter((column) => column < 0).length,
  );
  const cuts: Cut[] = [];
  for (const [node, column] of Array.from(columns).entries()) {
    const [from, to, value] = [before[node] ?? 0, before[rights[node] ?? 0] ?? 0, thresholds[node] ?? 0];
    if (column >= 0) cuts.push({ column, threshold: value, owner, mask: ~(((2 ** (to - from) - 1) | 0) << from) });
    else if (from < MAX_LEAVES) leaves[owner * MAX_LEAVES + from] = value;
    else throw new RangeError(`A tree has more than ${MAX_LEAVES} leaves.`);
  }
  return cuts;
}
