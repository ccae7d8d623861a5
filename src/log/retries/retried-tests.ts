import type { FailingTest } from '../../domain/failure.ts';
import type { PassedOnRetry } from '../../domain/reading.ts';
import { append, findMin, takeFirstOfEach } from '../../lib/collections.ts';
import { readTitle } from '../extract/tests/forms.ts';
import { splitTestName, type Words } from '../extract/tests/shapes.ts';
import { joinRanges } from '../line-ranges.ts';
import { findBlockEnd, type LogText } from '../lines/lines.ts';
import { isWithin, type LineRange } from '../sections/system.ts';
import { readListHead, readListItem, readMark, type TryVerdict } from './retry-marks.ts';

/**
 * Tests that passed on a rerun, tests that failed on every attempt, and the lines of failed attempts of
 * passed tests.
 */
export interface Retries {
  readonly passed: readonly PassedOnRetry[];
  readonly failing: readonly FailingTest[];
  /** The ranges of lines, ascending. */
  readonly ranges: readonly LineRange[];
}

/** One attempt at a test, read from a line and the block below it. */
interface Try extends LineRange {
  readonly says: TryVerdict;
  readonly title: string;
  readonly suite: string | null;
  readonly words: readonly string[];
}

const MAX_TRIES = 5_000;
const MAX_OUTPUT = 400;

/**
 * Reads which failing tests of a log passed when their runner ran them again. `lines` are the lines that
 * contain one of `RETRY_LITERALS` (`retry-marks.ts`). `reported` are tests that a report lists as passed on a
 * rerun.
 */
export function readRetries(
  log: LogText,
  lines: readonly number[],
  failing: readonly FailingTest[],
  reported: readonly PassedOnRetry[],
): Retries {
  const tries = [...readTries(log, lines), ...readGotestsum(log, lines, failing)];
  const last = new Map<string, TryVerdict>();
  for (const { words, says } of tries) if (says !== 'output') last.set(words.join(' '), says);
  const known = reported.map((test) => splitTestName(test).all);
  if (known.length === 0 && ![...last.values()].some((says) => says !== 'failed'))
    return { passed: [], failing, ranges: [] };
  const named = failing.map((test) => ({ test, words: splitTestName(test) }));
  const ended = (wanted: TryVerdict) =>
    [...last].flatMap(([key, says]) => (says === wanted ? [key.split(' ')] : []));
  const [failed, passed] = [ended('failed'), [...ended('passed'), ...known]];
  const hasPassed = ({ words }: { readonly words: Words }) =>
    passed.some((title) => isNamed(words, title)) && !failed.some((title) => isNamed(words, title));
  const left = named.filter((test) => !hasPassed(test));
  const isOver = ({ words, says }: Try) =>
    last.get(words.join(' ')) !== 'failed' &&
    (says === 'passed' || !left.some((other) => isNamed(other.words, words)));
  const over = tries.filter((attempt) =>
    attempt.says === 'output' ? last.get(attempt.words.join(' ')) === 'passed' : isOver(attempt),
  );
  const ranges = joinRanges([
    ...over,
    ...named.filter(hasPassed).flatMap(({ test }) => listRangesOfTest(test, log.name)),
  ]);
  const isLeft = ({ test }: { readonly test: FailingTest }) => {
    const testRanges = listRangesOfTest(test, log.name);
    return testRanges.length === 0 || testRanges.some(({ start }) => !isWithin(ranges, start));
  };
  return {
    passed: takeFirstOfEach(over, ({ words }) => words.join(' ')).map((attempt) =>
      createPassedTest(log, attempt),
    ),
    failing: left.filter(isLeft).map(({ test, words }) => withTries(log, test, words, tries)),
    ranges,
  };
}

function readTries(log: LogText, lines: readonly number[]): Try[] {
  const tries: Try[] = [];
  for (const line of lines) {
    if (tries.length >= MAX_TRIES) break;
    const text = log.line(line).trimEnd();
    const listed = readListHead(text);
    if (listed !== null) append(tries, readList(log, line, listed));
    const mark = listed === null ? readMark(text) : null;
    if (mark === null) continue;
    const { until } = mark;
    const end =
      until === undefined
        ? line
        : findBlockEnd(log, line, MAX_OUTPUT, (below) => !until.test(below.trimEnd()));
    tries.push({ start: line, end, says: mark.says, ...splitTitle(mark.title, mark.suite) });
  }
  return tries;
}

function readList(log: LogText, head: number, says: TryVerdict): Try[] {
  const end = findBlockEnd(log, head, MAX_OUTPUT, (text) => readListItem(text) !== null);
  const tries: Try[] = [];
  for (let line = head + 1; line <= end; line++) {
    const title = readListItem(log.line(line)) ?? '';
    const before = tries.at(-1);
    if (title !== '') tries.push({ start: line, end: line, says, ...splitTitle(title) });
    else if (before !== undefined) tries[tries.length - 1] = { ...before, end: line };
  }
  return tries;
}

const DONE = /^DONE (?:(?<runs>\d{1,4}) runs, )?\d{1,7} tests?\b/;

/** A Go test that failed in a later attempt, as gotestsum lists it. */
const FAILED_AGAIN = /^=== \W{0,4}FAIL: \S{1,400} (?<title>\S{1,400}) \(re-run (?<run>\d{1,4})\)/;

/**
 * Reads the attempts of gotestsum, which reruns failed tests and lists all failed attempts at the end. A test
 * that is missing in the list of the last run passed in an earlier one. Tests of the same name in different
 * packages are treated as one test, which passed only if none of them failed in the last run.
 */
function readGotestsum(log: LogText, lines: readonly number[], failing: readonly FailingTest[]): Try[] {
  const totals = lines.flatMap((line) => {
    const groups = DONE.exec(log.line(line))?.groups;
    return groups === undefined ? [] : [{ line, runs: Number(groups.runs ?? 1) }];
  });
  let from = 0;
  return totals.flatMap(({ line, runs }, at) => {
    // Every run prints totals. The list of all failed attempts follows only the last ones.
    if (totals[at + 1]?.runs === runs + 1) return [];
    if (runs === 1) {
      from = line;
      return [];
    }
    const isIn = ({ at }: FailingTest) =>
      at !== null && at.source === log.name && at.line > from && at.line < line;
    const between = lines.filter((number) => number > from && number < line);
    const failed = between.flatMap((number): Try[] => {
      const { title, run } = FAILED_AGAIN.exec(log.line(number))?.groups ?? {};
      return title === undefined || Number(run) !== runs - 1
        ? []
        : [{ start: number, end: number, says: 'failed', ...splitTitle(title) }];
    });
    const listed = new Set(failed.map(({ title }) => title));
    const passed = failing.filter(
      (test) =>
        test.framework === 'go' &&
        isIn(test) &&
        !listed.has(test.name) &&
        !listed.has(getRootName(test.name)),
    );
    from = line;
    const start = findMin(passed.map((test) => test.at?.line ?? line));
    // If no test failed in the last run, the totals of earlier runs are not failures either.
    const over = (at: number) => (failed.length === 0 ? { start, end: line } : { start: at, end: at });
    return [
      ...passed.map(
        ({ name, at }): Try => ({ ...over(at?.line ?? line), says: 'passed', ...splitTitle(name) }),
      ),
      ...failed,
    ];
  });
}

/** Returns the name of the outermost test. A subtest is rerun together with its parent. */
function getRootName(name: string): string {
  return name.slice(0, name.includes('/') ? name.indexOf('/') : undefined);
}

function splitTitle(title: string, suite: string | null = null): Pick<Try, 'title' | 'suite' | 'words'> {
  return { title, suite, words: splitTestName({ suite, name: title }).all };
}

/** Tells whether two names are of one test. */
export function isSameTest(
  left: Pick<FailingTest, 'suite' | 'name'>,
  right: Pick<FailingTest, 'suite' | 'name'>,
): boolean {
  return isNamed(splitTestName(left), splitTestName(right).all);
}

/**
 * Tells whether a title names a test: it ends with the test's own name, and title and full name only differ
 * in leading words.
 */
function isNamed({ all, own }: Words, title: readonly string[]): boolean {
  return endsWith(title, own) && (endsWith(title, all) || endsWith(all, title));
}

function endsWith(words: readonly string[], last: readonly string[]): boolean {
  const from = words.length - last.length;
  return last.length > 0 && from >= 0 && last.every((word, at) => words[from + at] === word);
}

function createPassedTest(log: LogText, { title, suite: known, start }: Try): PassedOnRetry {
  const at = { source: log.name, line: start };
  // rspec-retry identifies a test only by file and line.
  if (/^\S{1,300}\.\w{1,6}:\d{1,7}$/.test(title))
    return { name: title.replace(/^\.\//, ''), suite: null, at };
  const { name, suite } = known === null ? readTitle(title) : { name: title, suite: known };
  return { name, suite, at };
}

/** Adds the lines of all attempts to a test that failed on every attempt. */
function withTries(log: LogText, test: FailingTest, words: Words, tries: readonly Try[]): FailingTest {
  const matching = tries.filter(({ start, end, words: title }) => end > start && isNamed(words, title));
  if (matching.length === 0) return test;
  const spans = matching.map(({ start, end }) => ({ source: log.name, lineStart: start, lineEnd: end }));
  return { ...test, spans: [...(test.spans ?? []), ...spans] };
}

/** Returns the lines of one log that report a test. */
export function listRangesOfTest({ spans, at }: FailingTest, source: string): LineRange[] {
  const ranges = spans ?? (at === null ? [] : [{ source: at.source, lineStart: at.line, lineEnd: at.line }]);
  return ranges.flatMap(({ source: of, lineStart, lineEnd }) =>
    of === source ? [{ start: lineStart, end: lineEnd }] : [],
  );
}
