import type { ReplayedCase } from '../run/replay.ts';
import { type Figure, ratio } from './figure.ts';

const MEGABYTE = 1_000_000;
/** Below this many megabytes the clock measures the start of the program. */
const LEAST = 1;

/**
 * Milliseconds a megabyte of log: the clock of the whole run, data set and files included, by all the logs' bytes; the
 * checks against the labels are left out. Cases that run
 * beside one another share the clock, so it is no figure of one thread unless one case runs at a time. Left out for less than a megabyte.
 */
export function scoreSpeed(cases: readonly ReplayedCase[], elapsedMilliseconds: number): Figure[] {
  const megabytes = cases.reduce((total, one) => total + one.result.logBytes, 0) / MEGABYTE;
  if (megabytes < LEAST) return [];
  const checks = cases.reduce((total, one) => total + (one.checkMilliseconds ?? 0), 0);
  return [
    { name: 'megabytes of log', value: megabytes, cases: cases.length, unit: 'measure' },
    { name: 'milliseconds a megabyte', value: ratio(elapsedMilliseconds - checks, megabytes), cases: cases.length, unit: 'measure' },
  ];
}
