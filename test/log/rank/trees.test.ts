import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTreeSum, type Tree } from '../../../src/log/rank/model.ts';

const WIDTH = 3;

/** A tree over columns 0 to 2, in the order in which it is stored. */
interface Grown {
  readonly column: number;
  readonly threshold: number;
  readonly left?: Grown;
  readonly right?: Grown;
}

const { tree } = fc.letrec<{ tree: Grown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    fc.record({ column: fc.constant(-1), threshold: fc.integer({ min: -50, max: 50 }) }),
    fc.record({
      column: fc.nat(WIDTH - 1),
      threshold: fc.integer({ min: -3, max: 3 }),
      left: tie('tree'),
      right: tie('tree'),
    }),
  ),
}));

function storeTree(grown: Grown): Tree {
  const [columns, thresholds, rights]: [number[], number[], number[]] = [[], [], []];
  const add = ({ column, threshold, left, right }: Grown) => {
    const node = columns.push(column) - 1;
    thresholds.push(threshold);
    rights.push(0);
    if (left === undefined || right === undefined) return;
    add(left);
    rights[node] = columns.length;
    add(right);
  };
  add(grown);
  return { columns, thresholds, rights };
}

function walkTree(grown: Grown, row: readonly number[]): number {
  if (grown.left === undefined || grown.right === undefined) return grown.threshold;
  return walkTree((row[grown.column] ?? 0) <= grown.threshold ? grown.left : grown.right, row);
}

describe('the sum of decision trees', () => {
  it('equals that of the leaves found by walking each tree, row by row', () => {
    const rows = fc.array(
      fc.tuple(
        fc.integer({ min: -4, max: 4 }),
        fc.integer({ min: -4, max: 4 }),
        fc.integer({ min: -4, max: 4 }),
      ),
    );
    fc.assert(
      fc.property(fc.array(tree, { maxLength: 6 }), rows, (grown, values) => {
        const sum = createTreeSum(grown.map(storeTree), WIDTH);
        const flat = Float32Array.from(values.flat());
        for (const [i, row] of values.entries())
          expect(sum(flat, i * WIDTH)).toBe(grown.reduce((all, other) => all + walkTree(other, row), 0));
      }),
    );
  });

  it('is refused for a tree with too many leaves', () => {
    const chain = Array.from({ length: 16 }).reduce<Grown>(
      (right) => ({ column: 0, threshold: 0, left: { column: -1, threshold: 1 }, right }),
      { column: -1, threshold: 1 },
    );
    expect(() => createTreeSum([storeTree(chain)], WIDTH)).toThrow(RangeError);
  });
});
