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

/** Returns the reading of the cause that a failure of the group belongs to, or else of the whole build. */
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
 * Returns the failures that a reading adds to the stored groups of its build. A stored test is not added
 * again, even if a larger log shows its failure in other words; other failures with the same cause join its
 * group. The same test in another job with another message is another failure.
 */
export function joinKnown(read: readonly FailureGroup[], stored: readonly FailureGroup[]): FailureGroup[] {
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
 * Checks whether two failures of one build are the same: the same test, and the same fingerprint or the same
 * log.
 */
function isSameFailure(left: Failure, right: Failure): boolean {
  if (left.test === null || right.test === null || testKey(left.test) !== testKey(right.test)) return false;
  const [here, there] = [left.test.at?.source, right.test.at?.source];
  return (
    left.fingerprint.value === right.fingerprint.value ||
    here === undefined ||
    there === undefined ||
    here === there
  );
}

/**
 * Checks whether two groups end in the same way. Failures that show only how a test ended have no common
 * fingerprint across tests.
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
  return JSON.stringify(test === null ? [message] : [testKey(test), fingerprint.value]);
}

function testKey({ suite, name }: NonNullable<Failure['test']>): string {
  return JSON.stringify([suite, name]);
}
