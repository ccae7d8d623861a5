import type { Analysis } from './analysis.ts';
import type { Build } from './build.ts';

/**
 * The order of the queue: risk × the time an item has waited, highest first. Risk is
 *
 *   blocks (3 on a pull request, where somebody waits to merge; else 1)
 *   × cost if wrong (4 where the answer excuses a change that touches its own suspect; 2 where it excuses, INFRA_ERROR or
 *     flaky, with nothing of the change in sight; else 1)
 *
 * so an item that blocks somebody overtakes another that has waited up to three times as long. Confidence is no part of it: an answer
 * that is sure and wrong costs most.
 */
export function riskOf(build: Pick<Build, 'commit' | 'pullRequest'>, analysis: Analysis): number {
  const blocks = build.pullRequest === null ? 1 : 3;
  if (!isNotDevelopersFault(analysis)) return blocks;
  return blocks * (overlapOf(build, analysis).length > 0 ? 4 : 2);
}

/** All that `riskOf` can say. */
export const RISKS: readonly number[] = [1, 2, 3, 4, 6, 12];

/** Whether the answer tells a developer "not your fault": the costliest mistake where it is one. */
export function isNotDevelopersFault({ category, kind }: Pick<Analysis, 'category' | 'kind'>): boolean {
  return category === 'INFRA_ERROR' || kind === 'flaky_timing';
}

/** Suspects that the build's own change touches: of its commit, or of its pull request. Each path once. */
export function overlapOf(build: Pick<Build, 'commit' | 'pullRequest'>, { answer }: Pick<Analysis, 'answer'>): string[] {
  const own = answer.suspects.filter(
    ({ commit, pullRequest }) => isSame(commit, build.commit) || (pullRequest != null && pullRequest === build.pullRequest),
  );
  return [...new Set(own.map(({ path }) => path))];
}

/** Commits are named in full or by their first characters. */
function isSame(one: string | null, other: string | null): boolean {
  if (one === null || other === null || Math.min(one.length, other.length) < 7) return false;
  return one.startsWith(other) || other.startsWith(one);
}
