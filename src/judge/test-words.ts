import type { Classification } from '../domain/analysis.ts';
import type { FailingTest } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { MAX_TITLE } from '../log/title.ts';
import { type Described, formatPlace } from './described.ts';
import type { Fact, Facts } from './facts.ts';
import { cleanWords, quoteWords } from './values/clean.ts';
import { isExpression } from './values/tests.ts';
import { joinWords, readLinesFrom, toOneLine } from './wording.ts';

/** The minimum number of characters of a test's name in a title. */
const MIN_NAME = 28;
/** The end of a title about a test without an informative message. */
const SILENT = 'fails';

/** Describes how the deciding test failed, and names the others. Returns null if no test failed. */
export function describeTest(
  facts: Facts,
  fact: Fact | null,
  kind: Classification['kind'],
): Described | null {
  const test = findDecidedTest(facts, fact);
  if (test === null) return null;
  const place = formatPlace(test.file, test.line);
  const where = `${formatTestForPeople(test)}${place === null ? '' : ` (${place})`}`;
  const { what, clause } = describeOutcome(test, fact, kind, facts.subject);
  const isSilent = what === SILENT && facts.subject.failingTests.length === 1;
  return {
    title: writeTestTitle(test, what),
    cause: `${where} ${clause}.${nameOtherTests(facts, test)}`,
    isSilent,
  };
}

/** The way in which a test failed: for the title, and as the rest of a sentence. */
interface Outcome {
  readonly what: string;
  readonly clause: string;
}

function describeOutcome(
  test: FailingTest,
  fact: Fact | null,
  kind: Classification['kind'],
  subject: TriageSubject,
): Outcome {
  const difference = kind === 'snapshot' ? findFirstDifference(test, subject) : null;
  if (difference !== null)
    return {
      what: 'no longer matches its snapshot',
      clause: `renders "${difference.now}" where the stored snapshot has "${difference.stored}"`,
    };
  const pixels = kind === 'snapshot' ? countChangedPixels(test, subject) : null;
  if (pixels !== null)
    return {
      what: 'no longer matches its screenshot',
      clause: `renders a page that differs from its screenshot in ${pixels} pixels`,
    };
  const values = readValues(test);
  const checked = findCheckedExpression(test, subject);
  const check = checked === null ? '' : ` at \`${checked.replaceAll('`', "'")}\``;
  if (values !== null)
    return {
      what: compare(values),
      clause: `fails${check}: it expects ${values.expected} but gets ${values.actual}`,
    };
  const message = readMessage(test, fact, subject);
  if (kind === 'flaky_timing')
    return message === ''
      ? { what: 'its time limit expired', clause: 'did not end within its time limit' }
      : { what: message, clause: `timed out: ${quoteWords(message)}` };
  return message === ''
    ? { what: SILENT, clause: `fails${check}; the log does not say what it expected` }
    : { what: message, clause: `fails${check} with ${quoteWords(message)}` };
}

/** Compares the values in a title, the actual one first if they are long, because the end is cut off. */
function compare({ expected, actual }: { readonly expected: string; readonly actual: string }): string {
  const comparison = `expected ${expected} but got ${actual}`;
  return MIN_NAME + comparison.length + 4 > MAX_TITLE ? `got ${actual} instead of ${expected}` : comparison;
}

/** Reads the expected and the actual value. Returns null unless both are values. */
function readValues({ expected, actual }: FailingTest): { expected: string; actual: string } | null {
  if (expected === null || actual === null || isExpression(actual)) return null;
  const [left, right] = [expected, actual].map((value) =>
    cleanWords(value.replace(/^\s{0,8}(?:pattern|(?:sub)?string|value): {1,4}/i, ''), 100),
  );
  return left === undefined || right === undefined || left === right
    ? null
    : { expected: left, actual: right };
}

/** A line of a test's message that is only a place. */
const BARE_PLACE = /^\s{0,40}(?:Error Trace:\s{0,20})?\S{1,200}\.\w{1,8}:\d{1,6}:?\s{0,20}$/;

/**
 * Returns the first informative line of a test's message. Returns an empty text if it only repeats that the
 * test failed.
 */
function readMessage(test: FailingTest, fact: Fact | null, subject: TriageSubject): string {
  const lines = (test.message ?? fact?.text ?? '').split('\n').filter((line) => !BARE_PLACE.test(line));
  const line = lines[0] ?? '';
  const cleaned = line.replace(/^\s{0,40}not ok \d{1,7}(?: -)? (?=\S)/, '');
  const words = cleaned.startsWith(test.name)
    ? cleaned.slice(test.name.length).replace(/^ failed$/, '')
    : cleaned;
  const withoutType = words.replace(/^(?:(?:Assertion)?[Ee]rror: |thrown: "?)/, '');
  if (
    /^\s*(?:(?:[\w.]+\.)?Assertion(?:Failed)?Error(?:: null)?$|---? ?FAIL|FAIL(?:ED)?\b|expect\(\w{1,20}\)\.\w{1,40}\(\w{0,20}\)$)/.test(
      withoutType,
    )
  )
    return '';
  return cleanWords(completeTimeout(withoutType, test.at, subject), 240);
}

/** Completes Playwright's message about a timeout with what it waited for, or what was in the way. */
export function completeTimeout(message: string, at: FailingTest['at'], subject: TriageSubject): string {
  if (!/\bTimeout \d{1,9}ms exceeded\.?$/.test(message.trim())) return message;
  const lines = readLinesFrom(at, subject, 60);
  const calls = lines.slice(lines.findIndex((line) => /^\s{0,12}Call log:/.test(line)) + 1);
  const find = (pattern: RegExp) => calls.flatMap((line) => pattern.exec(line)?.[1] ?? [])[0];
  const reason =
    find(/^\s{0,24}- (.{1,200} intercepts pointer events)/) ?? find(/^\s{0,12}- (waiting for .{1,200})/);
  return reason === undefined ? message : `${message.trim().replace(/\.$/, '')}: ${reason}`;
}

/** Creates a title about a test. The name is shortened if the rest would be cut off. */
function writeTestTitle({ name }: FailingTest, what: string): string {
  if (what === SILENT) return `${quoteWords(toOneLine(name, MAX_TITLE - SILENT.length - 3))} ${SILENT}`;
  const isLong = MIN_NAME + what.length + 4 > MAX_TITLE;
  const title = isLong ? what.replace(/^[\w.]{1,80}(?:Error|Exception): (?=\S)/, '') : what;
  const room = Math.max(MIN_NAME, MAX_TITLE - title.length - 4);
  return `${quoteWords(toOneLine(name, room))}: ${title}`;
}

/** Names the other tests that failed. Returns an empty text if there are none. */
export function nameOtherTests(facts: Facts, test: FailingTest): string {
  const others = facts.subject.failingTests
    .filter((other) => other.name !== test.name || other.suite !== test.suite)
    .map(({ name }) => quoteWords(toOneLine(name, 80)));
  return others.length === 0 ? '' : ` Also failing: ${joinWords(others, 4)}.`;
}

function findDecidedTest(facts: Facts, fact: Fact | null): FailingTest | null {
  const { failingTests, failures } = facts.subject;
  const named = failingTests.find(
    (test) => test.message !== null && fact?.text.startsWith(test.message.slice(0, 60)) === true,
  );
  return named ?? failures.find((failure) => failure.test !== null)?.test ?? failingTests[0] ?? null;
}

/** Formats a test's name for people: with its suite, unless the suite only repeats a path or the name. */
export function formatTestForPeople({ name, suite }: Pick<FailingTest, 'name' | 'suite'>): string {
  const isBare =
    suite === null ||
    suite === '' ||
    name.includes(suite) ||
    /[/\\]|\.\w{1,4}$/.test(suite) ||
    /^[\w.$]{1,300}$/.test(suite);
  return quoteWords(isBare ? name : `${suite} › ${name}`);
}

/** Returns the source line of the failed check, if the framework printed it. Returns null otherwise. */
function findCheckedExpression(test: FailingTest, subject: TriageSubject): string | null {
  for (const line of readLinesFrom(test.at, subject, 40)) {
    const codeLine =
      /^\s{0,12}>\s{1,12}(?:\d{1,6}\s{0,3}[|│]\s{0,60})?(?=\S)(?<code>(?:assert|expect|self\.|should|require|[\w.]{1,60}\().{1,300})$/.exec(
        line,
      )?.groups?.code;
    if (codeLine !== undefined) return toOneLine(codeLine, 140);
  }
  return null;
}

/** Returns in how many pixels a page differs from its screenshot, or null if the log does not say it. */
function countChangedPixels(test: FailingTest, subject: TriageSubject): string | null {
  const counted = /(\d{1,9}) pixels \(ratio [\d.]{1,8} of all image pixels\) are different/;
  return counted.exec(readLinesFrom(test.at, subject, 30).join('\n'))?.[1] ?? null;
}

/**
 * Returns the first line of the stored text that changed, and the line that replaces it. Returns null if no
 * diff was printed.
 */
function findFirstDifference(
  test: FailingTest,
  subject: TriageSubject,
): { readonly stored: string; readonly now: string } | null {
  const lines = readLinesFrom(test.at, subject, 60);
  for (const [index, line] of lines.entries()) {
    const next = lines[index + 1] ?? '';
    if (!/^\s{0,8}- {1,4}\S/.test(line) || !/^\s{0,8}\+ {1,4}\S/.test(next)) continue;
    if (/^\s{0,8}[-+] (?:Snapshot|Expected|Received|expected|received|actual)\b/.test(line)) continue;
    return {
      stored: toOneLine(line.replace(/^\s{0,8}- /, ''), 80),
      now: toOneLine(next.replace(/^\s{0,8}\+ /, ''), 80),
    };
  }
  return null;
}
