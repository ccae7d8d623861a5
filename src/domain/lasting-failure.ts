import type { Evidence } from './evidence.ts';
import { listEvidenceFrom } from './finding-data.ts';

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

/**
 * Returns how often in a row a pipeline failed in this way, and since which build. Returns null for fewer
 * than three times, or if no tool checked it.
 */
export function findLastingFailure(evidence: readonly Evidence[]): LastingFailure | null {
  for (const { item, data } of listEvidenceFrom(evidence, ['count_consecutive_failures'])) {
    const { same: times, firstSameNumber: since } = data;
    if (times !== null && times >= LASTING && since !== null) return { times, since, item };
  }
  return null;
}
