import type { Build, SourceText } from '../../domain/build.ts';
import type { Excerpt, FailingTest, Failure, LogPosition } from '../../domain/failure.ts';
import { newId } from '../../domain/ids.ts';
import type { FailureGroup, Reading, Survey } from '../../domain/reading.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import {
  endingOf,
  failuresOf,
  groupByCause,
  isGenericMessage,
  isUnknown,
  PLAIN_ENDING,
  type ReadFailure,
  thrownBy,
} from '../../log/recognise/failures.ts';
import { normaliseIdentity } from '../../log/recognise/normalise.ts';

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

/** An expectation that does not hold is a cause of its own in each test, however alike two sound. */
const ASSERTION = /Assert|Expectation|ComparisonFailure|TestFail|MultipleFailures/;

/** What the machine refuses, it refuses to every test: the line of the test that happened to ask does not matter. */
const OF_THE_MACHINE =
  /\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EADDRINUSE|ENOSPC|EMFILE|ENOMEM|EROFS)\b|[Cc]onnection refused|No space left on device|Too many open files|Cannot allocate memory|Name or service not known|\bUnknownHostException\b/;

/**
 * Failures of one build with equal keys have one cause: the same deepest exception thrown at the same place, the same refusal of the
 * machine, or the same message at the same own frame. Of failures that only say how they ended, those that ended alike.
 */
function causeKey(failure: Failure, reading: Reading): string {
  if (failure.generic) return endingKey(failure);
  return deepestKey(failure, reading) ?? messageKey(failure);
}

/** The key of a failure that says no more than how it ended. */
function endingKey({ test, message }: Pick<Failure, 'test' | 'message'>): string {
  const said = test === null ? message : test.message;
  return `ending\u0001${(said === null ? null : endingOf(said)) ?? PLAIN_ENDING}`;
}

/** Only of a wrapped exception: one without a cause of its own says the same as its test's message. */
function deepestKey({ test }: Failure, reading: Reading): string | null {
  const thrown = test === null ? null : thrownBy(reading, test);
  if (thrown === null || thrown.chain.length < 2 || ASSERTION.test(thrown.type)) return null;
  const [frame] = thrown.frames;
  if (frame === undefined && isGenericMessage(thrown.message)) return null;
  const place = frame === undefined ? '' : `${frame.file}:${frame.function ?? ''}`;
  return `deepest\u0001${thrown.type}\u0001${normaliseIdentity(thrown.message)}\u0001${place}`;
}

function messageKey({ message, frames, test }: Failure): string {
  const said = normaliseIdentity(message);
  if (OF_THE_MACHINE.test(message)) return `machine\u0001${said}`;
  const frame = frames.find(({ own }) => own);
  return `${said}\u0001${frame === undefined ? (test?.file ?? '') : `${frame.file}:${frame.function ?? frame.line ?? ''}`}`;
}

type NamedSource = Pick<SourceText, 'kind' | 'name'>;

/**
 * The causes in the logs of a build's failed jobs. A log in which no test failed is read alone, so that its main error
 * counts beside the others', and stays the same cause when the logs of more jobs come.
 */
export async function causesOfLogs<Source extends NamedSource>(
  buildId: string,
  sources: readonly Source[],
  read: (sources: readonly Source[]) => Reading | Promise<Reading>,
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
export function sourcesOfGroup<Source extends NamedSource>(group: FailureGroup, sources: readonly Source[]): readonly Source[] {
  const named = new Set(group.failures.flatMap(({ excerpt, test }) => [excerpt?.source, test?.at?.source]));
  const isOwn = ({ kind, name }: NamedSource) => kind === 'log' && named.has(name);
  return sources.some(isOwn) ? sources.filter((source) => source.kind !== 'log' || isOwn(source)) : sources;
}

/**
 * What a reading adds to the stored groups of its build. A test that is stored is known, though a larger log may show its
 * failure in other words; what shares its cause joins its group.
 */
export function joinKnown(read: readonly FailureGroup[], stored: readonly FailureGroup[]): FailureGroup[] {
  const known = new Set(stored.flatMap(testKeysOf));
  return read.flatMap((group) => {
    const failures = group.failures.filter(({ test }) => test === null || !known.has(testKey(test)));
    if (failures.length === 0) return [];
    const tests = testKeysOf(group);
    const same = stored.find(
      (one) => one.generic === group.generic && (testKeysOf(one).some((test) => tests.includes(test)) || endAlike(one, group)),
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

function testKeysOf(group: FailureGroup): string[] {
  return group.failures.flatMap(({ test }) => (test === null ? [] : [testKey(test)]));
}

function testKey({ suite, name }: NonNullable<Failure['test']>): string {
  return JSON.stringify([suite, name]);
}

/** Enough structured facts for any judgement, few enough for a checkpoint of a few kilobytes. */
const MAX_FACTS = 30;

/** What the graph is given for one group: the facts of that group, without what belongs to other groups of the build only. */
export function subjectOf(input: {
  readonly triageId: string;
  readonly build: Build;
  readonly group: FailureGroup;
  readonly groups: readonly FailureGroup[];
  readonly reading: Reading;
  readonly notes: readonly string[];
  readonly survey?: Survey | null;
}): TriageSubject {
  const { group, reading } = input;
  const foreign = foreignPositions(input.groups, group);
  const excerpts = reading.excerpts.filter((excerpt) => !holdsOnlyForeign(excerpt, foreign, group));
  const within = (at: LogPosition | null) => at === null || excerpts.length === reading.excerpts.length || liesIn(at, excerpts);
  return {
    triageId: input.triageId,
    build: input.build,
    failures: group.failures.slice(0, MAX_FACTS),
    fingerprint: group.fingerprint,
    generic: group.generic,
    excerpts,
    failingTests: testsOf(group).slice(0, MAX_FACTS),
    diagnostics: reading.diagnostics.filter((one) => within(one.at)).slice(0, MAX_FACTS),
    exceptions: reading.exceptions.filter((one) => within(one.at)).slice(0, MAX_FACTS),
    messages: reading.messages.filter((one) => within(one.at)).slice(0, MAX_FACTS),
    exits: reading.exits.slice(-MAX_FACTS),
    failedSections: reading.failedSections.slice(0, MAX_FACTS),
    toolchains: reading.toolchains,
    notes: [...reading.notes, ...input.notes],
    sources: reading.sources,
    tokens: reading.tokens,
    ...(input.survey == null ? {} : { survey: input.survey }),
  };
}

function testsOf(group: FailureGroup): FailingTest[] {
  return group.failures.flatMap((failure) => (failure.test === null ? [] : [failure.test]));
}

function foreignPositions(groups: readonly FailureGroup[], own: FailureGroup): LogPosition[] {
  return groups.filter((group) => group !== own).flatMap((group) => positionsOf(group));
}

function positionsOf(group: FailureGroup): LogPosition[] {
  return testsOf(group).flatMap((test) => (test.at === null ? [] : [test.at]));
}

/** An excerpt that shows failures of other groups and none of this one would mislead; shared context stays. */
function holdsOnlyForeign(excerpt: Excerpt, foreign: readonly LogPosition[], own: FailureGroup): boolean {
  if (positionsOf(own).some((at) => holds(excerpt, at))) return false;
  return foreign.some((at) => holds(excerpt, at));
}

function liesIn(at: LogPosition, excerpts: readonly Excerpt[]): boolean {
  return excerpts.some((excerpt) => holds(excerpt, at));
}

function holds(excerpt: Excerpt, at: LogPosition): boolean {
  return excerpt.source === at.source && excerpt.lineStart <= at.line && at.line <= excerpt.lineEnd;
}
