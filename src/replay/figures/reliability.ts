import { type Proportion, proportion } from '../../lib/statistics.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { BINS, binOf } from './calibration-error.ts';
import { type StatedBy, type StatedCase, statementsOf } from './statements.ts';

/** Cases whose stated probability lies from `from` up to `to`: how many, how many of them were right, and what they stated on average. */
export interface ReliabilityBin extends Proportion {
  readonly from: number;
  readonly to: number;
  readonly stated: number;
}

/** Bins of one width (0 to 0.1, 0.1 to 0.2 …), or of about one number of cases. */
export type Binning = 'width' | 'mass';

/** The reliability table: ten bins, the lowest first, empty ones left out. A probability that several cases state is in one bin. */
export function reliabilityOf(cases: readonly ReplayedCase[], of: StatedBy, binning: Binning = 'width'): ReliabilityBin[] {
  const statements = statementsOf(cases, of);
  const place = binner(statements, binning);
  const bins = Map.groupBy(statements, ({ stated }) => place(stated));
  return [...bins].sort(([left], [right]) => left - right).map(([bin, members]) => reliabilityBin(bin, members, binning));
}

/** Which of the ten bins a stated probability falls into; by mass: as the statements that are given share out. */
export function binner(statements: readonly StatedCase[], binning: Binning): (stated: number) => number {
  if (binning === 'width') return binOf;
  const sorted = statements.map(({ stated }) => stated).sort((left, right) => left - right);
  const counts = new Map<number, { first: number; count: number }>();
  for (const [at, stated] of sorted.entries()) {
    const level = counts.get(stated);
    if (level === undefined) counts.set(stated, { first: at, count: 1 });
    else level.count++;
  }
  return (stated) => {
    const { first = 0, count = 0 } = counts.get(stated) ?? {};
    // A probability that many state lies where its middle one does.
    return Math.min(BINS - 1, Math.floor(((first + count / 2) / Math.max(1, sorted.length)) * BINS));
  };
}

function reliabilityBin(bin: number, members: readonly StatedCase[], binning: Binning): ReliabilityBin {
  const stated = members.map((member) => member.stated);
  const ends = [stated.reduce((least, one) => Math.min(least, one), 1), stated.reduce((most, one) => Math.max(most, one), 0)] as const;
  const [from, to] = binning === 'width' ? [bin / BINS, (bin + 1) / BINS] : ends;
  const average = stated.reduce((total, one) => total + one, 0) / stated.length;
  return { from, to, stated: average, ...proportion(members.filter(({ right }) => right).length, members.length) };
}
