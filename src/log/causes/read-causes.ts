import type { EnvironmentRecord } from '../../domain/environment-record.ts';
import type { Excerpt, LogRange } from '../../domain/failure.ts';
import { MAX_FOREIGN, type Reading } from '../../domain/reading.ts';
import { findThrownException, groupByCause, type ReadFailure } from '../fingerprint/failures.ts';
import { joinRanges, overlaps, subtractRanges } from '../line-ranges.ts';
import type { ReadableSource, ReadLog } from '../read-log.ts';
import { composeReading, type OpenedSources, openSources, type ReadOptions } from '../read-sources.ts';
import { findPassages, type TestReport } from '../reports/report-draft.ts';
import type { LineRange } from '../sections/system.ts';
import { createCauseKey } from './cause-key.ts';
import { findFailures } from './find-failures.ts';
import { findLinkedLines } from './links.ts';
import { createLogView } from './log-view.ts';
import { determineOwnership, type Ownership } from './spans.ts';

/** Failures of one build with one cause, and what their own lines say. */
export interface ReadCause extends Pick<ReadFailure, 'fingerprint' | 'generic'> {
  readonly failures: readonly ReadFailure[];
  readonly reading: Reading;
}

/**
 * The results of reading a build: all of it together, and each cause from its own lines, in the order of their
 * first failures. There is at least one cause.
 */
export interface BuildReading {
  readonly reading: Reading;
  readonly causes: readonly ReadCause[];
  /** The environment in which the job of each log ran. */
  readonly records: readonly EnvironmentRecord[];
}

/** The maximum number of causes that are answered. A note names the failures of the others. */
const MAX_CAUSES = 20;
/** The maximum number of failures that the note about unanswered causes names. */
const MAX_NAMED = 10;

/**
 * Reads all masked logs and reports of one build, and separates its causes. Deterministic; never throws on
 * any text.
 */
export function readCauses(sources: readonly ReadableSource[], options: ReadOptions): BuildReading {
  const opened = openSources(sources, options);
  const composed = composeReading(opened, options);
  const all = groupCauses(findFailures(opened, composed, options), composed);
  const groups = all.slice(0, MAX_CAUSES);
  const unanswered = noteUnanswered(all.slice(MAX_CAUSES));
  const reading = { ...composed, notes: [...composed.notes, ...unanswered] };
  const records = opened.logs.map((log) => log.readEnvironmentRecord());
  if (groups.length === 1)
    return { reading, records, causes: groups.map((group) => ({ ...group, reading })) };
  const failures = groups.flatMap((group) => group.failures);
  const owners = opened.logs.map(({ log }) =>
    determineOwnership(
      log.name,
      failures.map(({ spans = [] }) => spans),
    ),
  );
  let first = 0;
  const causes = groups.map((group) => {
    const numbers = new Set(group.failures.map((_, at) => first + at));
    first += group.failures.length;
    const cause = readCause(group.failures, { opened, owners, numbers, whole: reading }, options);
    return {
      ...group,
      failures: group.failures.map((failure) => withOwnExcerpt(failure, cause)),
      reading: cause,
    };
  });
  return { reading, causes, records };
}

/** Groups failures by fingerprint and by cause, in the order of their first failures. */
export function groupCauses(
  failures: readonly ReadFailure[],
  reading: Reading,
): Omit<ReadCause, 'reading'>[] {
  const groups = new Map<string, Omit<ReadCause, 'reading'>>();
  for (const same of groupByCause(failures)) {
    const [first] = same.failures;
    if (first === undefined) continue;
    const key = createCauseKey(first, first.test === null ? null : findThrownException(reading, first.test));
    const group = groups.get(key);
    groups.set(
      key,
      group === undefined ? same : { ...group, failures: [...group.failures, ...same.failures] },
    );
  }
  return [...groups.values()];
}

/** Says how many causes are not answered, and names their failures. */
function noteUnanswered(groups: readonly Omit<ReadCause, 'reading'>[]): string[] {
  if (groups.length === 0) return [];
  const names = groups
    .flatMap(({ failures }) => failures.map(({ test, message }) => test?.name ?? message))
    .map((name) => name.slice(0, 100));
  const more = names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} more`] : [];
  const causes = groups.length === 1 ? '1 more cause is' : `${groups.length} more causes are`;
  return [
    `The first ${MAX_CAUSES} causes are answered; ${causes} ` +
      `not: ${[...names.slice(0, MAX_NAMED), ...more].join(', ')}.`,
  ];
}

interface CauseInput {
  readonly opened: OpenedSources;
  readonly owners: readonly Ownership[];
  /** The indexes of the cause's failures among all failures. */
  readonly numbers: ReadonlySet<number>;
  readonly whole: Reading;
}

/** Reads one cause from its own lines and from the shared lines that a link ties to it. */
function readCause(failures: readonly ReadFailure[], input: CauseInput, options: ReadOptions): Reading {
  const { opened, owners, numbers, whole } = input;
  const has = (names: readonly string[]) =>
    failures.some(({ spans = [] }) => spans.some(({ source }) => names.includes(source)));
  const hasLines = has(opened.logs.map(({ log }) => log.name));
  const isReported = has(opened.reports.map(({ source }) => source));
  const speaks = (hasLines || isReported) && failures.some(({ generic }) => !generic);
  const logs = opened.logs.flatMap((read, at): ReadLog[] => {
    const owner = owners[at];
    if (owner === undefined) return [];
    const lines = owner.own(numbers);
    if (hasLines && lines.length === 0) return [];
    const foreign = owner.foreign(numbers);
    const visible = speaks
      ? joinRanges([...lines, ...findLinkedLines(read, failures, [...lines, ...foreign])])
      : findContext(read, lines, foreign);
    return visible.length === 0 ? [] : [createLogView(read, { visible, foreign })];
  });
  const reports = opened.reports.map((report) => filterReport(report, failures, speaks));
  const part = composeReading({ ...opened, reports, logs }, options);
  const { sources, testResults, notes, maskedSecrets } = whole;
  const toolchains = part.toolchains.length > 0 ? part.toolchains : whole.toolchains;
  const { fingerprint, generic } = failures[0] ?? whole;
  const failingTests = failures.flatMap(({ test }) => test ?? []);
  return {
    ...part,
    failingTests,
    foreign: listForeignRanges(opened, owners, numbers),
    sources,
    testResults,
    notes,
    toolchains,
    maskedSecrets,
    fingerprint,
    generic,
  };
}

/**
 * Lists the lines of all other failures, and of failed steps in which none of these failures lies. If there
 * are too many ranges, keeps the longest ones.
 */
function listForeignRanges(
  { logs }: OpenedSources,
  owners: readonly Ownership[],
  numbers: ReadonlySet<number>,
): LogRange[] {
  const isPlaced = owners.some((owner) => owner.own(numbers).length > 0);
  const ranges = logs.flatMap(({ log, structure }, at) => {
    const owner = owners[at];
    if (owner === undefined) return [];
    const ownLines = owner.own(numbers);
    const steps = structure.failedSections
      .map(({ lineStart, lineEnd }) => ({ start: lineStart, end: lineEnd }))
      .filter(({ start, end }) => isPlaced && !overlaps(ownLines, start, end));
    return joinRanges([...owner.foreign(numbers), ...steps]).map(({ start, end }) => ({
      source: log.name,
      lineStart: start,
      lineEnd: end,
    }));
  });
  if (ranges.length <= MAX_FOREIGN) return ranges;
  const longest = ranges.toSorted((a, b) => b.lineEnd - b.lineStart - (a.lineEnd - a.lineStart));
  const kept = new Set(longest.slice(0, MAX_FOREIGN));
  return ranges.filter((range) => kept.has(range));
}

/**
 * Keeps the parts of a report that are about these failures. Keeps its diagnostics only if the failures say
 * nothing themselves.
 */
function filterReport(report: TestReport, failures: readonly ReadFailure[], speaks: boolean): TestReport {
  const ownLines = new Set(
    failures.flatMap(({ test, spans = [] }) =>
      test === null ? [] : findPassages(report, test, spans).map((passage) => passage.test),
    ),
  );
  const failingTests = report.failingTests.filter((test) => ownLines.has(test));
  return speaks ? { ...report, failingTests, diagnostics: [], quotable: [] } : { ...report, failingTests };
}

/** Returns the failed steps around a failure that does not say why, without the lines of other failures. */
function findContext(
  { log, structure }: ReadLog,
  owned: readonly LineRange[],
  foreign: readonly LineRange[],
): LineRange[] {
  const steps = structure.failedSections.filter(({ lineStart, lineEnd }) =>
    overlaps(owned, lineStart, lineEnd),
  );
  const around = steps.map(({ lineStart, lineEnd }) => ({ start: lineStart, end: lineEnd }));
  return subtractRanges(around.length > 0 ? joinRanges(around) : [{ start: 1, end: log.lineCount }], foreign);
}

/** Gives a failure an excerpt of its own lines. */
function withOwnExcerpt(failure: ReadFailure, { excerpts }: Reading): ReadFailure {
  const isOwn = (excerpt: Excerpt) => failure.spans?.some((span) => shares(excerpt, span)) === true;
  return { ...failure, excerpt: excerpts.find(isOwn) ?? null };
}

function shares(excerpt: Excerpt, span: LogRange): boolean {
  return (
    excerpt.source === span.source && excerpt.lineStart <= span.lineEnd && excerpt.lineEnd >= span.lineStart
  );
}
