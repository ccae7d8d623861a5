import type { Failure } from '../domain/failure.ts';
import { newId } from '../domain/ids.ts';
import type { FailureGroup, Reading } from '../domain/reading.ts';
import { failuresOf, groupByCause, type ReadFailure } from '../log/recognise/failures.ts';
import { isUnknown } from '../log/recognise/fingerprint.ts';
import { causeKey } from './cause-key.ts';

/** More causes than this in one build are one cause that we cannot see, such as a broken set-up. */
const MAX_GROUPS = 20;

/**
 * The failures of a build, grouped into causes: the same fingerprint, or the same cause by `causeKey` (forty tests that die of one
 * refused connection have one cause). In the order of their first failure.
 */
export function groupsOf(reading: Reading, buildId: string): FailureGroup[] {
  const failures = failuresOf(reading).map((failure): Failure => ({ ...ofBuild(failure, buildId), id: newId('fal'), buildId }));
  const groups = new Map<string, FailureGroup>();
  let last = '';
  for (const cause of groupByCause(failures)) {
    const key = keyOf(cause, reading);
    const into = groups.has(key) || groups.size < MAX_GROUPS ? key : last;
    const group = groups.get(into);
    if (group === undefined) last = into;
    groups.set(into, group === undefined ? cause : { ...group, failures: [...group.failures, ...cause.failures] });
  }
  return [...groups.values()];
}

/** What has no identity is nobody else's failure: builds without one have nothing known in common. */
function ofBuild(failure: ReadFailure, buildId: string): ReadFailure {
  const { fingerprint } = failure;
  return isUnknown(fingerprint) ? { ...failure, fingerprint: { ...fingerprint, value: `unknown-${buildId}` } } : failure;
}

function keyOf({ failures }: FailureGroup, reading: Reading): string {
  const [first] = failures;
  return first === undefined ? '' : causeKey(first, reading);
}
