import type { Tree } from '../../../src/log/rank/model.ts';

/** Rows of numbers for training, with `width` values each. */
export interface Rows {
  readonly values: Float32Array;
  readonly width: number;
  readonly labels: Uint8Array;
  readonly weights: Float32Array;
}

export interface BoostingOptions {
  readonly trees: number;
  readonly leaves: number;
  readonly rate: number;
  /** The minimum sum of second derivatives in a leaf, in units of weight. */
  readonly least: number;
  readonly penalty: number;
}

const BINS = 48;
/** The number of values per column of a histogram: two sums for each bin. There is one more bin than cuts. */
const SLOTS = 2 * (BINS + 1);

interface Leaf {
  readonly rows: Int32Array;
  readonly sums: Float64Array;
  gain: number;
  column: number;
  bin: number;
  readonly node: Node;
}

interface Node {
  column: number;
  threshold: number;
  value: number;
  left: Node | null;
  right: Node | null;
}

/**
 * Fits gradient-boosted trees for the logistic loss, grown leaf by leaf on histograms. The same rows always
 * give the same trees.
 */
export function fitTrees({ values, width, labels, weights }: Rows, options: BoostingOptions): Tree[] {
  const count = labels.length;
  const cuts = computeCuts(values, width, count);
  const bins = assignBins(values, width, count, cuts);
  const scores = new Float64Array(count);
  const [slopes, curves] = [new Float64Array(count), new Float64Array(count)];
  const trees: Tree[] = [];
  for (let round = 0; round < options.trees; round++) {
    for (let i = 0; i < count; i++) {
      const p = 1 / (1 + Math.exp(-(scores[i] ?? 0)));
      slopes[i] = ((labels[i] ?? 0) - p) * (weights[i] ?? 0);
      curves[i] = p * (1 - p) * (weights[i] ?? 0);
    }
    trees.push(flattenTree(grow(bins, cuts, slopes, curves, scores, options)));
  }
  return trees;
}

function computeCuts(values: Float32Array, width: number, count: number): Float32Array[] {
  return Array.from({ length: width }, (_, column) => {
    const step = Math.max(1, Math.floor(count / 20_000));
    const sample: number[] = [];
    for (let i = 0; i < count; i += step) sample.push(values[i * width + column] ?? 0);
    const sorted = Float32Array.from(sample).sort();
    const cuts = new Set<number>();
    for (let bin = 1; bin < BINS; bin++) cuts.add(sorted[Math.floor((bin * sorted.length) / BINS)] ?? 0);
    return Float32Array.from([...cuts].sort((a, b) => a - b));
  });
}

/** Returns, column by column, the index of the first cut that a value does not exceed. */
function assignBins(
  values: Float32Array,
  width: number,
  count: number,
  cuts: readonly Float32Array[],
): Uint8Array[] {
  return cuts.map((own, column) => {
    const bins = new Uint8Array(count);
    for (let i = 0; i < count; i++) {
      const value = values[i * width + column] ?? 0;
      let [low, high] = [0, own.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((own[middle] ?? 0) < value) low = middle + 1;
        else high = middle;
      }
      bins[i] = low;
    }
    return bins;
  });
}

function grow(
  bins: readonly Uint8Array[],
  cuts: readonly Float32Array[],
  slopes: Float64Array,
  curves: Float64Array,
  scores: Float64Array,
  options: BoostingOptions,
): Node {
  const all = Int32Array.from(slopes, (_, i) => i);
  const root = createNode();
  const leaves = [createLeaf(all, computeSums(all), root)];
  while (leaves.length < options.leaves) {
    const best = leaves.reduce((top, leaf) => (leaf.gain > top.gain ? leaf : top));
    if (best.gain <= 1e-6) break;
    const [left, right] = divide(best);
    leaves.splice(leaves.indexOf(best), 1, left, right);
  }
  for (const { rows, node } of leaves) {
    for (const row of rows) scores[row] = (scores[row] ?? 0) + node.value;
  }
  return root;

  /** Splits a leaf in two. The sums of the larger half are computed by subtraction. */
  function divide({ rows, sums, column, bin, node }: Leaf): [Leaf, Leaf] {
    const own = bins[column] ?? new Uint8Array();
    const isLeft = (row: number) => (own[row] ?? 0) <= bin;
    const left = rows.filter(isLeft);
    const right = rows.filter((row) => !isLeft(row));
    node.column = column;
    node.threshold = cuts[column]?.[bin] ?? 0;
    node.left = createNode();
    node.right = createNode();
    const small = computeSums(left.length <= right.length ? left : right);
    const large = sums.map((sum, i) => sum - (small[i] ?? 0));
    const [leftSums, rightSums] = left.length <= right.length ? [small, large] : [large, small];
    return [createLeaf(left, leftSums, node.left), createLeaf(right, rightSums, node.right)];
  }

  /** Sums the first and second derivatives of rows, by column and bin. */
  function computeSums(rows: Int32Array): Float64Array {
    const sums = new Float64Array(bins.length * SLOTS);
    for (const [column, own] of bins.entries()) {
      const base = column * SLOTS;
      for (let k = 0; k < rows.length; k++) {
        const row = rows[k] ?? 0;
        const slot = base + 2 * (own[row] ?? 0);
        sums[slot] = (sums[slot] ?? 0) + (slopes[row] ?? 0);
        sums[slot + 1] = (sums[slot + 1] ?? 0) + (curves[row] ?? 0);
      }
    }
    return sums;
  }

  /** Creates a leaf with its value and its best split. */
  function createLeaf(rows: Int32Array, sums: Float64Array, node: Node): Leaf {
    let [slope, curve] = [0, 0];
    for (let slot = 0; slot < SLOTS; slot += 2) {
      slope += sums[slot] ?? 0;
      curve += sums[slot + 1] ?? 0;
    }
    node.value = (options.rate * slope) / (curve + options.penalty);
    const leaf: Leaf = { rows, sums, gain: 0, column: -1, bin: 0, node };
    const worth = (s: number, c: number) => (s * s) / (c + options.penalty);
    const whole = worth(slope, curve);
    for (const [column, own] of cuts.entries()) {
      let [left, leftCurve] = [0, 0];
      for (let bin = 0; bin < own.length; bin++) {
        left += sums[column * SLOTS + 2 * bin] ?? 0;
        leftCurve += sums[column * SLOTS + 2 * bin + 1] ?? 0;
        if (leftCurve < options.least || curve - leftCurve < options.least) continue;
        const gain = worth(left, leftCurve) + worth(slope - left, curve - leftCurve) - whole;
        if (gain > leaf.gain) Object.assign(leaf, { gain, column, bin });
      }
    }
    return leaf;
  }
}

function createNode(): Node {
  return { column: -1, threshold: 0, value: 0, left: null, right: null };
}

/** Converts a tree to arrays. The left child follows its parent. */
function flattenTree(root: Node): Tree {
  const [columns, thresholds, rights]: [number[], number[], number[]] = [[], [], []];
  add(root);
  return { columns, thresholds, rights };

  function add(node: Node): number {
    const index = columns.length;
    columns.push(node.left === null ? -1 : node.column);
    thresholds.push(roundWeights(node.left === null ? node.value : node.threshold));
    rights.push(0);
    if (node.left !== null && node.right !== null) {
      add(node.left);
      rights[index] = add(node.right);
    }
    return index;
  }
}

/** Rounds a number to five significant digits, which keeps the file short. */
function roundWeights(value: number): number {
  return Number(value.toPrecision(5));
}
