import { projectOf } from '../cases/project-folds.ts';
import type { Difference } from '../compare/comparison.ts';
import { differencesOf } from '../compare/differences.ts';
import type { Measure } from '../compare/measure.ts';
import type { PairedCase } from '../compare/paired-cases.ts';
import type { ReplayedCase } from '../run/replay.ts';

/** Compares two systems, `a` with `b`, by every measure that the labels allow. Cases that only one of them has are left out. */
export function systemDifferences(
  a: readonly ReplayedCase[],
  b: readonly ReplayedCase[],
  measures: readonly Measure[],
): readonly Difference[] {
  return differencesOf(pairsOf(a, b), measures).differences;
}

function pairsOf(a: readonly ReplayedCase[], b: readonly ReplayedCase[]): PairedCase[] {
  const others = new Map(b.map((one) => [one.result.id, one]));
  return a.flatMap((one, at) => {
    const other = others.get(one.result.id);
    if (one.row === null || other === undefined) return [];
    return [{ id: one.result.id, line: at + 1, row: one.row, project: projectOf(one.row), runs: { a: [one], b: [other] } }];
  });
}
