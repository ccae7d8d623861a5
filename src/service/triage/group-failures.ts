import type { Failure } from '../../domain/failure.ts';
import { createId } from '../../domain/ids.ts';
import type { FailureGroup, Reading } from '../../domain/reading.ts';
import { createEndingKey } from '../../log/causes/cause-key.ts';
import type { BuildReading, ReadCause } from '../../log/causes/read-causes.ts';
import { isUnknown } from '../../log/fingerprint/failures.ts';

/** Returns the causes of a build as groups of failures, in the order of their first failure. */
export function groupFailures({ causes }: Omit<BuildReading, 'records'>, buildId: string): FailureGroup[] {
  return causes.map(({ fingerprint, generic, failures }) => ({
    fingerprint: toBuildFingerprint(fingerprint, buildId),
    generic,
    failures: failures.map(
      (failure): Failure => ({
        ...failure,
        fingerprint: toBuildFingerprint(failure.fingerprint, buildId),
        id: createId('fal'),
        buildId,
      }),
    ),
  }));
}

/**
 * Makes an unknown fingerprint unique to the build, because unknown failures of different builds need not be
 * the same.
 */
function toBuildFingerprint(fingerprint: Failure['fingerprint'], buildId: string): Failure['fingerprint'] {
  return isUnknown(fingerprint) ? { ...fingerprint, value: `unknown-${buildId}` } : fingerprint;
}

/**
 * Returns the reading of the group's cause. Returns that of the whole build if this reading has no such
 * cause.
 */
export function findGroupReading(
  group: FailureGroup,
  { reading, causes }: Omit<BuildReading, 'records'>,
): Reading {
  const keys = new Set(group.failures.map(createFailureKey));
  const isSame = (cause: ReadCause) =>
    cause.fingerprint.value === group.fingerprint.value ||
    cause.failures.some((failure) => keys.has(createFailureKey(failure)));
  return causes.find(isSame)?.reading ?? reading;
}

/**
 * Returns the groups to save after another reading of a build. A test that is stored already is left out,
 * even if a larger log shows its failure with another message. Failures without a test are always returned; the
 * store drops those that it has. A group that shares a test or its ending with a stored group gets the
 * fingerprint of that group. The same test in another log with another fingerprint is another failure.
 */
export function findGroupsToSave(
  read: readonly FailureGroup[],
  stored: readonly FailureGroup[],
): FailureGroup[] {
  const known = stored.flatMap(({ failures }) => failures);
  return read.flatMap((group) => {
    const failures = group.failures.filter(
      (failure) => failure.test === null || !known.some((earlier) => isSameFailure(earlier, failure)),
    );
    if (failures.length === 0) return [];
    const same = stored.find(
      (failureGroup) =>
        failureGroup.generic === group.generic &&
        (failureGroup.failures.some((failure) =>
          group.failures.some((other) => isSameFailure(failure, other)),
        ) ||
          haveSameEnding(failureGroup, group)),
    );
    return [{ fingerprint: same?.fingerprint ?? group.fingerprint, generic: group.generic, failures }];
  });
}

/**
 * Checks whether two failures of one build are the same: the same test, and the same fingerprint or log. An
 * unknown log counts as the same.
 */
function isSameFailure(left: Failure, right: Failure): boolean {
  if (left.test === null || right.test === null || createTestKey(left.test) !== createTestKey(right.test))
    return false;
  const [leftLog, rightLog] = [left.test.at?.source, right.test.at?.source];
  return (
    left.fingerprint.value === right.fingerprint.value ||
    leftLog === undefined ||
    rightLog === undefined ||
    leftLog === rightLog
  );
}

/**
 * Checks whether the first failures of two generic groups ended in the same way. Their fingerprints cannot be
 * compared, because a generic fingerprint contains the name of the test.
 */
function haveSameEnding(first: FailureGroup, second: FailureGroup): boolean {
  const [left, right] = [first.failures[0], second.failures[0]];
  if (!first.generic || left === undefined || right === undefined) return false;
  return left.generic && right.generic && createEndingKey(left) === createEndingKey(right);
}

function createFailureKey({
  test,
  message,
  fingerprint,
}: Pick<Failure, 'test' | 'message' | 'fingerprint'>): string {
  return JSON.stringify(test === null ? [message] : [createTestKey(test), fingerprint.value]);
}

function createTestKey({ suite, name }: NonNullable<Failure['test']>): string {
  return JSON.stringify([suite, name]);
}
