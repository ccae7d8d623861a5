import { z } from 'zod';
import type { Evidence } from './evidence.ts';

/** A failure that a pipeline had in its last builds, each time the same. */
export interface LastingFailure {
  readonly times: number;
  /** Number of the first of these builds. */
  readonly since: string;
  /** The evidence that counted them. */
  readonly item: Evidence;
}

/** Number of identical failures in a row from which a failure is not temporary. */
const LASTING = 3;

const Streak = z.object({ same: z.int().min(LASTING), firstSameNumber: z.string() });

/**
 * Returns how often in a row a pipeline failed in this way, and since which build. Returns null for fewer
 * than three times, or if no tool checked it.
 */
export function lastingFailure(evidence: readonly Evidence[]): LastingFailure | null {
  for (const item of evidence) {
    const streak = item.tool === 'count_consecutive_failures' ? Streak.safeParse(item.data).data : undefined;
    if (streak !== undefined) return { times: streak.same, since: streak.firstSameNumber, item };
  }
  return null;
}
