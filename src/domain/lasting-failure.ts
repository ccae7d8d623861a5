import type { Evidence } from './evidence.ts';
import { listEvidenceFrom } from './finding-data.ts';

/** A failure that a pipeline had in each of its last builds. */
export interface LastingFailure {
  readonly times: number;
  /** The number of the first of these builds. */
  readonly since: string;
  /** The evidence that counted them. */
  readonly item: Evidence;
}

/** The number of identical consecutive failures from which on a failure is not temporary. */
const LASTING = 3;

/**
 * Returns how many consecutive builds of a pipeline failed in this way, and the first of them. Returns null
 * for fewer than three builds, or if no tool checked it.
 */
export function findLastingFailure(evidence: readonly Evidence[]): LastingFailure | null {
  for (const { item, data } of listEvidenceFrom(evidence, ['count_consecutive_failures'])) {
    const { same: times, firstSameNumber: since } = data;
    if (times !== null && times >= LASTING && since !== null) return { times, since, item };
  }
  return null;
}
