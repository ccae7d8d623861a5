import { bootstrapWeights } from '../../lib/statistics.ts';
import { BINS, binOf, calibrationError as errorOfWeighted } from '../figures/calibration-error.ts';
import { weightOf } from './labelled.ts';
import type { Statement } from './platt.ts';

export interface Measured {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** One tenth of stated probability: how many stated so much, what they stated in the mean, and which share was right. */
export interface ReliabilityBin {
  readonly from: number;
  readonly to: number;
  readonly cases: number;
  readonly stated: number;
  readonly right: number;
}

/** Of ten equal bins those that are not empty. */
export function reliability(statements: readonly Statement[]): ReliabilityBin[] {
  return Array.from({ length: BINS }, (_, bin) => bin).flatMap((bin) => {
    const inside = statements.filter(({ stated }) => binOf(stated) === bin);
    if (inside.length === 0) return [];
    const weight = inside.reduce((sum, one) => sum + weightOf(one), 0);
    const stated = inside.reduce((sum, one) => sum + weightOf(one) * one.stated, 0) / weight;
    const right = inside.reduce((sum, one) => sum + (one.right ? weightOf(one) : 0), 0) / weight;
    return [{ from: bin / BINS, to: (bin + 1) / BINS, cases: inside.length, stated, right }];
  });
}

/** Expected calibration error of statements that stand for one case or for several; 0 for none. */
export function calibrationError(statements: readonly Statement[]): number {
  return errorOfWeighted(statements.map((one) => ({ ...one, weight: weightOf(one) })));
}

/** Mean squared distance between what was stated and what was so; 0 for no statements. */
export function brierScore(statements: readonly Statement[]): number {
  const all = statements.reduce((sum, one) => sum + weightOf(one), 0);
  return all === 0 ? 0 : statements.reduce((sum, one) => sum + weightOf(one) * (one.stated - Number(one.right)) ** 2, 0) / all;
}

/**
 * A score with its 95 % interval, by resampling whole projects, since their cases resemble each other (percentile bootstrap). The same
 * cases always give the same interval. A calibration error of resampled cases comes out too high rather than too low.
 */
export function withInterval<One extends Statement & { readonly project: string }>(
  statements: readonly One[],
  score: (statements: readonly One[]) => number,
): Measured {
  const projects = [...Map.groupBy(statements, ({ project }) => project).values()];
  const [interval] = bootstrapWeights(projects.length, statements.length, (drawn) => [
    score(projects.flatMap((members, at) => Array.from({ length: drawn[at] ?? 0 }, () => members).flat())),
  ]);
  const value = score(statements);
  const [low, high] = interval ?? [value, value];
  return { value, low, high };
}
