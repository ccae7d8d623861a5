import type { Cause } from '../../domain/cause.ts';
import type { Lane } from '../../domain/lane.ts';
import { findMax } from '../../lib/collections.ts';

/** A cause with the default branches that it turns red. */
export interface Reason {
  /** The cause. Null if no analysis explains the failure. */
  readonly cause: Cause | null;
  readonly lanes: readonly Lane[];
}

/**
 * Groups red branches by cause. Causes with the most branches come first, then those with the longest red
 * time. A branch with several causes belongs to the one with the most branches.
 */
export function groupByReason(lanes: readonly Lane[], causes: readonly Cause[], now: number): Reason[] {
  const groups = new Map<string, { cause: Cause | null; lanes: Lane[] }>();
  const known = Map.groupBy(causes, ({ fingerprint }) => fingerprint);
  for (const lane of lanes) {
    const ownCauses = causes.filter(
      ({ repository, redPipelines }) =>
        repository === lane.repository && redPipelines.includes(lane.pipeline),
    );
    const spread = (cause: Cause) => known.get(cause.fingerprint)?.length ?? 0;
    const cause = ownCauses.toSorted((left, right) => spread(right) - spread(left))[0] ?? null;
    const key = cause === null ? '' : cause.fingerprint;
    const group = groups.get(key) ?? { cause, lanes: [] };
    group.lanes.push(lane);
    groups.set(key, group);
  }
  const redMs = (reason: Reason) =>
    findMax(reason.lanes.map(({ redSince }) => (redSince === null ? 0 : now - Date.parse(redSince))));
  return [...groups.values()].toSorted(
    (left, right) => right.lanes.length - left.lanes.length || redMs(right) - redMs(left),
  );
}
