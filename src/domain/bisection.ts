import { findMax } from '../lib/collections.ts';
import { shortenCommit } from './build.ts';
import type { Bisection } from './experiment.ts';

/**
 * The runs at one of the commits of the search. The first point is the good commit, the last one the bad
 * commit.
 */
export interface BisectionPoint {
  readonly passed: number;
  readonly failed: number;
  readonly isSkipped: boolean;
}

/** The range of commits, by position, one of which broke the command according to the runs. */
export interface BisectionRange {
  /** The probability that it was one of these, from 0 to 1. */
  readonly share: number;
  readonly from: number;
  readonly to: number;
}

/** The probability from which on a commit is named. */
export const SURE = 0.99;
/** The assumed probability that a good commit nevertheless fails in this same way. */
const FALSE_FAILURE = 0.001;

/** Determines from the runs which commit broke the command. */
export function judgeBisection(
  points: readonly BisectionPoint[],
): BisectionRange & { readonly verdict: Bisection['verdict'] } {
  const range = findMostProbable(points);
  return { ...range, verdict: judgeRange(points, range) };
}

function judgeRange(
  points: readonly BisectionPoint[],
  { share, from, to }: BisectionRange,
): Bisection['verdict'] {
  if (points.at(-1)?.failed === 0) return 'not-reproduced';
  if (share < SURE) return 'inconclusive';
  if (to === 0) return 'before';
  if (from < to) return 'one-of';
  const [parent, first] = [points[from - 1], points[from]];
  const isShown =
    parent !== undefined &&
    parent.passed > 0 &&
    parent.failed === 0 &&
    first !== undefined &&
    first.failed > 0;
  return isShown ? 'found' : 'inconclusive';
}

/**
 * Returns the points that a bisection's record describes. Returns null if the record does not state the
 * positions of its runs.
 */
export function findBisectionPoints({ commits, tried, skipped }: Bisection): BisectionPoint[] | null {
  if (commits < 1 || [...tried, ...skipped].some(({ at }) => at === undefined || at < 0 || at > commits))
    return null;
  const points: BisectionPoint[] = Array.from({ length: commits + 1 }, () => ({
    passed: 0,
    failed: 0,
    isSkipped: false,
  }));
  for (const { at = 0, passed, failed } of tried) points[at] = { passed, failed, isSkipped: false };
  for (const { at = 0 } of skipped) points[at] = { passed: 0, failed: 0, ...points[at], isSkipped: true };
  return points;
}

/**
 * Describes the result of a bisection. The text contains only counts and commits, never text that a person
 * wrote.
 */
export function describeBisection(bisection: Omit<Bisection, 'sentence'>): string {
  const { verdict, confidence, candidates, tried } = bisection;
  const runs = tried.reduce((total, { passed, failed, other }) => total + passed + failed + other, 0);
  // The confidence is never rounded up to 100 %.
  const sure = `${Math.min(99.9, Math.floor(confidence * 1000) / 10)}% confidence, ${runs} runs`;
  const names = candidates.map(({ commit }) => shortenCommit(commit));
  const [first, last] = [names[0] ?? '', names.at(-1) ?? ''];
  switch (verdict) {
    case 'found':
      return `Broken by ${first} (${sure}).`;
    case 'one-of':
      return (
        `Broken by one of ${names.length} commits, ${first} to ${last}: ` +
        `those between could not be tried (${sure}).`
      );
    case 'before': {
      const good = tried.find(({ at }) => at === 0);
      const counts = `${good?.failed ?? 0} of ${(good?.failed ?? 0) + (good?.passed ?? 0)} runs`;
      return (
        `It fails at the good commit ${shortenCommit(good?.commit ?? '')} as well, ${counts}: ` +
        'name an older one with --good.'
      );
    }
    case 'not-reproduced':
      return describeUnbroken(bisection);
    case 'part':
      return (
        `Tried ${tried.length} of ${bisection.commits + 1} commits in ${runs} runs; ` +
        'add the others with --results.'
      );
    case 'inconclusive':
      return names.length === 0
        ? `Inconclusive after ${runs} runs.`
        : `Inconclusive: most probably broken by ${names.length === 1 ? first : `${first} to ${last}`} ` +
            `(${sure}).`;
  }
}

function describeUnbroken({ tried, skipped, commits }: Omit<Bisection, 'sentence'>): string {
  const bad = tried.find(({ at }) => at === commits);
  if (bad !== undefined)
    return (
      `Passes ${bad.passed} of ${bad.passed} at the bad commit ${shortenCommit(bad.commit)}: ` +
      'not reproduced.'
    );
  const unusable = skipped.find(({ at }) => at === commits);
  return `The bad commit ${shortenCommit(unusable?.commit ?? '')} could not be tried.`;
}

/**
 * Computes the probability of each commit to be the first bad one. The first commit also represents all
 * commits before it.
 */
export function computeProbabilities(points: readonly BisectionPoint[]): number[] {
  const all = { passed: 0, failed: 0 };
  for (const { passed, failed } of points) {
    all.passed += passed;
    all.failed += failed;
  }
  const factorials = computeLogFactorials(all.passed + all.failed + 1);
  const before = { passed: 0, failed: 0 };
  const logs = points.map(({ passed, failed }) => {
    const [good, bad] = [all.passed - before.passed, all.failed - before.failed];
    // All rates of failure are assumed to be equally probable: the integral of rate^failed (1 - rate)^passed.
    const rate = (factorials[bad] ?? 0) + (factorials[good] ?? 0) - (factorials[bad + good + 1] ?? 0);
    const log = rate + before.failed * Math.log(FALSE_FAILURE) + before.passed * Math.log1p(-FALSE_FAILURE);
    before.passed += passed;
    before.failed += failed;
    return log;
  });
  const most = findMax(logs);
  const weights = logs.map((log) => Math.exp(log - most));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/**
 * Finds the most probable commit, together with the adjacent commits from which the runs cannot distinguish
 * it.
 */
function findMostProbable(points: readonly BisectionPoint[]): BisectionRange {
  let best = { share: 0, from: 0, to: 0 };
  let [share, from] = [0, 0];
  for (const [index, probability] of computeProbabilities(points).entries()) {
    share += probability;
    if (!canTell(points[index])) continue;
    if (share > best.share) best = { share, from, to: index };
    [share, from] = [0, index + 1];
  }
  return best;
}

function canTell(point: BisectionPoint | undefined): boolean {
  return point !== undefined && (!point.isSkipped || point.passed + point.failed > 0);
}

/** Computes the logarithms of 0! to `most`!. */
function computeLogFactorials(most: number): number[] {
  const logs = [0];
  for (let factor = 1; factor <= most; factor += 1) logs.push((logs[factor - 1] ?? 0) + Math.log(factor));
  return logs;
}
