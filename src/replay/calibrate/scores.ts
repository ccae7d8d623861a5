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

const BINS = 10;
const RESAMPLES = 400;

/** Of ten equal bins those that are not empty. */
export function reliability(statements: readonly Statement[]): ReliabilityBin[] {
  return Array.from({ length: BINS }, (_, bin) => bin).flatMap((bin) => {
    const inside = statements.filter(({ stated }) => Math.min(BINS - 1, Math.floor(stated * BINS)) === bin);
    if (inside.length === 0) return [];
    const weight = inside.reduce((sum, one) => sum + weightOf(one), 0);
    const stated = inside.reduce((sum, one) => sum + weightOf(one) * one.stated, 0) / weight;
    const right = inside.reduce((sum, one) => sum + (one.right ? weightOf(one) : 0), 0) / weight;
    return [{ from: bin / BINS, to: (bin + 1) / BINS, cases: inside.length, stated, right }];
  });
}

/** Expected calibration error over ten bins (Guo et al. 2017, arXiv 1706.04599); 0 for no statements. */
export function calibrationError(statements: readonly Statement[]): number {
  const all = statements.reduce((sum, one) => sum + weightOf(one), 0);
  const gaps = Array<number>(BINS).fill(0);
  for (const one of statements) {
    const bin = Math.min(BINS - 1, Math.floor(one.stated * BINS));
    gaps[bin] = (gaps[bin] ?? 0) + weightOf(one) * (Number(one.right) - one.stated);
  }
  return all === 0 ? 0 : gaps.reduce((sum, gap) => sum + Math.abs(gap), 0) / all;
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
  const random = seeded(statements.length);
  const values = Array.from({ length: RESAMPLES }, () =>
    score(projects.flatMap(() => projects[Math.floor(random() * projects.length)] ?? [])),
  );
  values.sort((left, right) => left - right);
  const at = (share: number) => values[Math.floor(share * (RESAMPLES - 1))] ?? 0;
  return { value: score(statements), low: at(0.025), high: at(0.975) };
}

/** Wilson's 95 % interval of a share; 0..1 for no cases. */
export function shareInterval(count: number, of: number): Measured {
  if (of === 0) return { value: 0, low: 0, high: 1 };
  const z = 1.96;
  const share = count / of;
  const middle = (share + z ** 2 / (2 * of)) / (1 + z ** 2 / of);
  const reach = (z / (1 + z ** 2 / of)) * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  return { value: share, low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) };
}

/** Mulberry32: enough for resampling, and the same everywhere. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
