import type { SourceText } from '../domain/build.ts';
import type { Failure } from '../domain/failure.ts';
import type { FailureGroup, Reading } from '../domain/reading.ts';
import { endingKey } from './cause-key.ts';
import { groupsOf } from './group.ts';

/**
 * The causes in the logs of a build's failed jobs. A log in which no test failed is read alone, so that its main error
 * counts beside the others', and stays the same cause when the logs of more jobs come.
 */
export async function causesOfLogs(
  buildId: string,
  sources: readonly SourceText[],
  read: (sources: readonly SourceText[]) => Reading | Promise<Reading>,
): Promise<FailureGroup[]> {
  const reading = await read(sources);
  const whole = groupsOf(reading, buildId);
  const logs = sources.filter(({ kind }) => kind === 'log');
  if (logs.length < 2) return whole;
  const showTests = new Set(reading.failingTests.map(({ at }) => at?.source));
  const readAlone: Reading[] = [];
  for (const log of logs) if (!showTests.has(log.name)) readAlone.push(await read([log]));
  const alone = readAlone.filter((one) => one.failingTests.length === 0 && showsError(one)).flatMap((one) => groupsOf(one, buildId));
  const tests = reading.failingTests.length > 0 ? whole : [];
  return tests.length + alone.length > 0 ? [...tests, ...alone] : whole;
}

/** The sources that show a group: another failed job's log would mislead. All of them where the group names no log. */
export function sourcesOfGroup(group: FailureGroup, sources: readonly SourceText[]): readonly SourceText[] {
  const named = new Set(group.failures.flatMap(({ excerpt, test }) => [excerpt?.source, test?.at?.source]));
  const isOwn = ({ kind, name }: SourceText) => kind === 'log' && named.has(name);
  return sources.some(isOwn) ? sources.filter((source) => source.kind !== 'log' || isOwn(source)) : sources;
}

/**
 * What a reading adds to the stored groups of its build. A test that is stored is known, though a larger log may show its
 * failure in other words; what shares its cause joins its group.
 */
export function joinKnown(read: readonly FailureGroup[], stored: readonly FailureGroup[]): FailureGroup[] {
  const known = new Set(stored.flatMap(testsOf));
  return read.flatMap((group) => {
    const failures = group.failures.filter(({ test }) => test === null || !known.has(testKey(test)));
    if (failures.length === 0) return [];
    const tests = testsOf(group);
    const same = stored.find(
      (one) => one.generic === group.generic && (testsOf(one).some((test) => tests.includes(test)) || endAlike(one, group)),
    );
    return [{ fingerprint: same?.fingerprint ?? group.fingerprint, generic: group.generic, failures }];
  });
}

function showsError({ diagnostics, exceptions, messages, exits }: Reading): boolean {
  return diagnostics.length + exceptions.length + messages.length > 0 || exits.some(({ code, signal }) => code !== 0 || signal !== null);
}

/** What only says how it ended has no fingerprint in common from test to test. */
function endAlike(one: FailureGroup, other: FailureGroup): boolean {
  const [left, right] = [one.failures[0], other.failures[0]];
  if (!one.generic || left === undefined || right === undefined) return false;
  return left.generic && right.generic && endingKey(left) === endingKey(right);
}

function testsOf(group: FailureGroup): string[] {
  return group.failures.flatMap(({ test }) => (test === null ? [] : [testKey(test)]));
}

function testKey({ suite, name }: NonNullable<Failure['test']>): string {
  return JSON.stringify([suite, name]);
}
