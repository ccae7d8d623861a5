import type { Failure } from '../domain/failure.ts';
import { newId } from '../domain/ids.ts';
import type { FailureGroup, Reading } from '../domain/reading.ts';
import { failuresOf, groupByCause } from '../log/failures.ts';
import { normaliseIdentity } from '../log/normalise.ts';

/** More causes than this in one build are one cause that we cannot see, such as a broken set-up. */
const MAX_GROUPS = 20;

/**
 * The failures of a build, grouped into causes: the same fingerprint, or the same normalised message thrown at the same
 * own frame (fourteen tests that die in one constructor have one cause). In the order of their first failure.
 */
export function groupsOf(reading: Reading, buildId: string): FailureGroup[] {
  const failures = failuresOf(reading).map((failure): Failure => ({ ...failure, id: newId('fal'), buildId }));
  const groups: { key: string; group: FailureGroup }[] = [];
  for (const cause of groupByCause(failures)) {
    const key = causeKey(cause);
    const same = groups.find((one) => one.key === key);
    if (same === undefined && groups.length < MAX_GROUPS) groups.push({ key, group: cause });
    else join(groups, same ?? groups[groups.length - 1], cause);
  }
  return groups.map((one) => one.group);
}

function join(
  groups: { key: string; group: FailureGroup }[],
  into: { key: string; group: FailureGroup } | undefined,
  cause: FailureGroup,
): void {
  if (into === undefined) groups.push({ key: causeKey(cause), group: cause });
  else into.group = { ...into.group, failures: [...into.group.failures, ...cause.failures] };
}

function causeKey(group: FailureGroup): string {
  const first = group.failures[0];
  if (first === undefined || group.generic) return 'generic';
  const frame = first.frames.find((one) => one.own);
  const place = frame === undefined ? (first.test?.file ?? '') : `${frame.file}:${frame.function ?? frame.line ?? ''}`;
  return `${normaliseIdentity(first.message)}\u0001${place}`;
}
