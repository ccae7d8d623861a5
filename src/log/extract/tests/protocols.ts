import { findBlockEnd, type LogText, listLinesBetween } from '../../lines/lines.ts';
import { readServiceMessage, type ServiceMessage } from '../../sections/system.ts';
import type { Extractor, Findings } from '../extraction.ts';
import { matchGroups, splitExpectation } from './block.ts';
import { FAILED_SUBTESTS } from './runners.ts';
import type { Named, Runner } from './shapes.ts';

const NOT_OK =
  /^\s{0,40}not ok (?<number>\d{1,7})?(?: -)? ?(?<name>[^#]{0,300}?)(?:\s{0,4}# time=.{0,200})?\s{0,4}$/i;
const COMPLAINT = new RegExp(
  String.raw`^(?:#\s{0,4})?(?:fatal|abort|assertion|terminate called|segmentation|panic|killed|` +
    String.raw`\W{0,4}error\b|uncaught|.{0,60}\b(?:Error|Exception|` +
    String.raw`FATAL ERROR|Check failed|Assertion)\b)`,
  'i',
);
/** Beginnings of lines that a test runner printed. Other lines may be a message. */
const OUTPUT = /^(?:TAP version|\[process |[▶✔✖#{<[]|-{3}|ok \d|not ok )/;

/** The Test Anything Protocol, including node:test's output: `not ok 3 name` with YAML or comments below. */
export const TAP: Runner = {
  name: 'tap',
  literals: ['not ok '],
  fillsIn: 'same',
  shapes: [
    {
      head: NOT_OK,
      next: /^\s{0,60}---/,
      body: 'open',
      until: /^\s{0,60}\.\.\.\s{0,4}$/,
      limit: 80,
      finish: readTapTest,
    },
    {
      unless: FAILED_SUBTESTS,
      head: NOT_OK,
      body: 'open',
      until: /^(?!\s{0,40}#|\s{0,60}---|FAIL: \S)/,
      never: /^\s{0,60}---\s{0,4}$/,
      limit: 12,
      finish: readTapTest,
    },
  ],
};

function readTapTest(named: Named, body: readonly string[]): Named | null {
  const yaml = (key: string) =>
    body
      .map((text) => new RegExp(`^\\s{0,60}${key}: ?['"]?(.{0,300}?)['"]?$`).exec(text)?.[1])
      .find((value) => value !== undefined && value !== '');
  const error = yaml('error');
  if (/subtestsFailed|^\d{1,5} subtests? failed/.test(`${yaml('failureType')} ${error}`)) return null;
  const place =
    /^(?<file>[^:]{1,300}):(?<line>\d{1,6}):\d{1,5}$/.exec(yaml('location') ?? '')?.groups ??
    matchGroups(body, /in test file (?<file>.{1,300}), line (?<line>\d{1,7})\)/);
  const thrown = body
    .map((text) => text.trim())
    .find((text) => /^\w{0,60}(?:Error|Exception)\b.{0,20}: /.test(text));
  const block = body[body.findIndex((text) => text.trim() === 'error: |-') + 1]?.trim();
  const long =
    thrown ??
    (error === '|-' ? block : undefined) ??
    yaml('message') ??
    readEnding(body, yaml('severity'), yaml('exitcode'));
  const sides = splitExpectation(body.join('\n'));
  return {
    ...place,
    name: named.name || `test ${named.number ?? ''}`,
    message: (error === '|-' ? undefined : error) ?? long ?? readCommentBelow(body) ?? '',
    expected: yaml('expected') ?? yaml('wanted') ?? sides.expected ?? undefined,
    actual: yaml('actual') ?? yaml('found') ?? sides.actual ?? undefined,
  };
}

/** Returns a reason if no exception was thrown: what the test's process printed, a timeout, or a crash. */
function readEnding(
  body: readonly string[],
  severity: string | undefined,
  code: string | undefined,
): string | undefined {
  const start = body.findIndex((text) => /^\s{0,60}stack: \|-/.test(text));
  const printed = start === -1 ? [] : body.slice(start + 1).map((text) => text.trim());
  if (printed[0] === 'timeout') return 'timed out';
  const first = printed.find((text) => text !== '');
  const complaint =
    printed.find((text) => COMPLAINT.test(text)) ??
    (first === '...' || OUTPUT.test(first ?? '') ? undefined : first);
  if (complaint !== undefined) return complaint;
  // Code 1 is usual for any failing test; other codes are informative.
  return code === undefined || code === '1'
    ? undefined
    : `${severity === 'crashed' ? 'crashed' : 'ended'} with exit code ${code}`;
}

/** Reads what failed from the comments below a result, as Bats writes them. */
function readCommentBelow(body: readonly string[]): string | undefined {
  const printed = body
    .filter((text) => /^\s{0,40}#/.test(text))
    .map((text) => text.replace(/^\s{0,40}#\s{0,8}/, ''));
  return printed.find(
    (text) => text !== '' && !/^\((?:from function|in test file)|^\s{0,4}in test file/.test(text),
  );
}

const MAX_TESTS = 2_000;

/**
 * TeamCity service messages, which its plugins for most test frameworks print, each on one line: failed tests
 * with expected and actual value, build problems, and messages of status ERROR.
 */
export const teamcity: Extractor = {
  name: 'teamcity',
  literals: [
    '##teamcity[testfailed',
    '##teamcity[testsuite',
    '##teamcity[buildproblem',
    '##teamcity[message',
  ],
  extract: (log, lines, found) => {
    const suites = new Map<string, string[]>();
    // The framework also prints its own output, in which the same tests have plain names.
    const known = new Set(found.failingTests.map(({ name }) => name));
    let tests = 0;
    for (const line of lines) {
      const message = readServiceMessage(getWholeLine(log, line));
      if (message === null) continue;
      if (message.name.startsWith('testSuite')) follow(message, suites);
      else if (message.name === 'testFailed') {
        if (tests < MAX_TESTS && !isKnown(message, known)) addTest(line, message, suites, found, tests++);
      } else addProblem(line, message, found);
    }
  },
};

/**
 * Returns a message in full. Details may hold a whole stack trace, which cleaning has cut, so the line is
 * read as stored.
 */
function getWholeLine(log: LogText, line: number): string {
  const raw = log.raw(line);
  return raw.slice(Math.max(0, raw.indexOf('##teamcity[')), 40_000);
}

/** Keeps track of the open suites. Suites nest within one flow; parallel tests have different flows. */
function follow({ name, attributes }: ServiceMessage, suites: Map<string, string[]>): void {
  const flow = attributes.get('flowId') ?? '';
  const open = suites.get(flow) ?? [];
  const suite = attributes.get('name') ?? '';
  if (name === 'testSuiteStarted' && open.length < 50) suites.set(flow, [...open, suite]);
  else if (open.includes(suite)) suites.set(flow, open.slice(0, open.lastIndexOf(suite)));
}

function addTest(
  line: number,
  { attributes }: ServiceMessage,
  suites: ReadonlyMap<string, string[]>,
  found: Findings,
  nth: number,
): void {
  const details = attributes.get('details') ?? '';
  const attribute = attributes.get('message')?.trim() ?? '';
  const message = attribute === '' ? (details.trim().split('\n')[0] ?? '') : attribute;
  const guess = splitExpectation(`${attribute}\n${details}`);
  found.test(line, 'teamcity', {
    name: (attributes.get('name') ?? 'test').slice(0, 500),
    suite:
      (suites.get(attributes.get('flowId') ?? '') ?? suites.get(''))
        ?.filter((name) => name !== '')
        .join(' / ') || null,
    ...placeIn(details),
    message: message.slice(0, 1_000) || null,
    expected: attributes.get('expected')?.slice(0, 500) ?? guess.expected,
    actual: attributes.get('actual')?.slice(0, 500) ?? guess.actual,
  });
  found.block(line, line, 88 - Math.min(nth, 30) * 0.4, 'failing test (TeamCity)');
}

function isKnown({ attributes }: ServiceMessage, known: ReadonlySet<string>): boolean {
  const name = attributes.get('name') ?? '';
  return known.has(name) || known.has(name.slice(name.lastIndexOf('.') + 1));
}

/**
 * Finds the place of the failure in the test's details, as pytest (`test_a.py:7: AssertionError`) or Python's
 * traces write it.
 */
function placeIn(details: string): { readonly file: string | null; readonly line: number | null } {
  const last = [
    ...details
      .slice(0, 20_000)
      .matchAll(
        /^(?:([\w./\\-]{1,200}\.\w{1,5}):(\d{1,6}): |\s{0,8}File "([^"\n]{1,300})", line (\d{1,6}))/gm,
      ),
  ].at(-1);
  const file = last?.[1] ?? last?.[3] ?? null;
  return { file, line: file === null ? null : Number(last?.[2] ?? last?.[4]) };
}

function addProblem(line: number, { name, attributes }: ServiceMessage, found: Findings): void {
  const isProblem = name === 'buildProblem';
  if (!isProblem && !/^(?:ERROR|FAILURE)$/.test(attributes.get('status') ?? '')) return;
  const text = (attributes.get('description') ?? attributes.get('text') ?? '').trim();
  if (text === '') return;
  const weight = isProblem ? 70 : 60;
  found.block(line, line, weight, isProblem ? 'build problem (TeamCity)' : 'error message (TeamCity)');
  found.message(line, text, weight);
}

/** A form of a line that reports on a whole run, or on the process that ran it. */
interface Mark {
  readonly pattern: RegExp;
  readonly weight: number;
  readonly reason: string;
  /**
   * The lines below that belong to it: all up to a line that matches, at most `limit`. None if both are
   * absent.
   */
  readonly until?: RegExp;
  readonly limit?: number;
  /**
   * The position of the message: on the line itself, or below it. Below, a line that begins with `> ` takes
   * precedence over the first line.
   */
  readonly message?: 'line' | 'below';
  readonly toolchain?: string;
}

// biome-ignore format: one row for each mark
const MARKS: readonly Mark[] = [
  { pattern: /\bTEST-UNEXPECTED-\w{1,20} \| /, weight: 88, reason: 'unexpected test result' },
  { pattern: /\bPROCESS-CRASH \| /, weight: 90, reason: 'crashed process', message: 'line' },
  { pattern: /\b(?:Assertion failure: |Hit MOZ_CRASH|MOZ_ASSERT|###!!! ASSERTION|###!!! ABORT)/, weight: 84,
    reason: 'failed assertion of the program', message: 'line' },
  { pattern: new RegExp(
      String.raw`^(?:={2}\d{1,10}={2}\s?|PID \d{1,9} \| .{0,30})?(?:ERROR|` +
      String.raw`SUMMARY|WARNING): \w{1,30}Sanitizer\b`,
    ), weight: 88, reason: 'sanitizer report', message: 'line' },
  { pattern: /: runtime error: .{1,200}/, weight: 82, reason: 'undefined behaviour', message: 'line' },
  { pattern: new RegExp(
      String.raw`^={2}\d{1,10}={2}\s{1,4}(?:Invalid (?:read|write|free)|definitely lost|` +
      'Conditional jump|ERROR SUMMARY: [1-9])',
    ), weight: 80, reason: 'valgrind report', message: 'line' },
  { pattern: /LEAKING THE WORLD|^(?:ERROR|CRITICAL|FATAL) - /, weight: 76, reason: 'error of the harness',
    message: 'line' },
  { pattern: /^\[taskcluster:error\]|^\[taskcluster\] .{0,40}(?:Unsuccessful|exceeded)/, weight: 78,
    reason: 'error of the task runner', message: 'line' },
  { pattern: /^\* What went wrong/, weight: 72, reason: 'what went wrong, says gradle',
    until: /^\* (?:Try|Exception|Get more)/, limit: 12, message: 'below' },
  { pattern: /^(?:> Task )?:[\w:-]{1,200} FAILED$/, weight: 58, reason: 'failing gradle task',
    until: /^(?:> Task|FAILURE:|\d{1,5} actionable)/, limit: 25, toolchain: 'gradle' },
  { pattern: /Failed to execute goal/, weight: 66, reason: 'maven goal failed',
    until: /^(?!\[ERROR\] (?!To see|Re-run|For more|-> \[Help)\S)/, limit: 25, toolchain: 'maven' },
  { pattern: /Tests run:.{0,200}<<</, weight: 80, reason: 'failing test class' },
  { pattern: /^(?:\[ERROR\] )?(?:Failed tests|Tests in error|Failures|Errors):\s{0,4}/, weight: 81,
    reason: 'list of failing tests', until: /^(?!(?:\[ERROR\])?\s{1,8}\S)/, limit: 60 },
  { pattern: /^go: (?!downloading|finding|extracting|added|upgraded)\S/, weight: 72, reason: 'go command',
    limit: 2, message: 'line' },
  { pattern: /^FAIL\t\S/, weight: 60, reason: 'failing go package' },
  { pattern: /^--- stderr/, weight: 70, reason: 'stderr of a build script', limit: 15 },
  { pattern: /^\s{0,4}FAIL\s{1,3}(?:[\w@/-]{1,60}\s)?\S{1,300}\.\w{1,6}(?: [([].{1,60}[)\]])?$/, weight: 74,
    reason: 'failing test file' },
  { pattern: /^(?:Failed \d{1,5}\/\d{1,5} subtests|Dubious, test returned|No subtests run)/, weight: 84,
    reason: 'failed test script' },
  { pattern: /^Test Summary Report$/, weight: 82, reason: 'summary of the tests',
    until: /^(?:Files=|Result:)/, limit: 30 },
  { pattern: /^\s{0,4}(?:Failing|Failed|Errored) scenarios:$/i, weight: 74, reason: 'failing scenarios',
    until: /^(?!.{0,300}\.feature:\d)/, limit: 40 },
  { pattern: new RegExp(
      String.raw`^(?:ERROR:\s{1,6}|\s{2})?[\w.-]{1,60}: (?:commands failed|FAIL(?: \w{1,20} \S{1,10})? \(|` +
      'InvocationError|could not install deps)|^ERROR: InvocationError for command|' +
      String.raw`^nox > Session .{1,80} failed\.$`,
    ), weight: 52, reason: 'failing environment' },
  { pattern: new RegExp(
      String.raw`^={3,200} .{0,200}\b(?:\d{1,6} (?:failed|errors?)|no tests ran)\b.{0,200}[^=]={3,200}$|` +
      String.raw`^test result: FAILED|^\s{0,8}(?:Test Suites|Tests|Test Files):? {1,8}\d{1,6} failed|` +
      String.raw`^(?:\[\w{1,8}\] )?Tests run: \d{1,7}, Failures: (?:[1-9]\d{0,6}, Errors: \d|` +
      String.raw`0, Errors: [1-9])|^\d{1,6} tests completed, \d{1,6} failed|^(?:OK, but |` +
      String.raw`Tests: \d{1,7}, Assertions: \d{1,7}, )|^Result: FAIL|^\s{0,8}(?:✖ )?\d{1,6} (?:failing|` +
      String.raw`of \d{1,6} tests failed:?|tests? failed:?)$`,
    ), weight: 52, reason: 'test totals' },
];

/**
 * The reader of what runners and harnesses report about a whole run: totals, failed scripts and environments,
 * crashed processes.
 */
export const harness: Extractor = {
  name: 'harness',
  literals: [
    'TEST-UNEXPECTED-',
    'PROCESS-CRASH',
    'Assertion failure: ',
    'MOZ_CRASH',
    'MOZ_ASSERT',
    '###!!! A',
    'Sanitizer',
    ': runtime error: ',
    'LEAKING THE WORLD',
    'ERROR - ',
    'CRITICAL - ',
    'FATAL - ',
    '[taskcluster',
    'Invalid read',
    'Invalid write',
    'definitely lost',
    'ERROR SUMMARY: ',
    '* What went wrong',
    ' FAILED',
    'Failed to execute goal',
    'Tests run:',
    'Failed tests:',
    'Tests in error:',
    'Failures:',
    'Errors:',
    'go: ',
    'FAIL',
    '--- stderr',
    ' subtests',
    'Dubious, test returned',
    'Test Summary Report',
    ' scenarios:',
    ': commands failed',
    'InvocationError',
    'nox > Session',
    'could not install deps',
    'no tests ran',
    'OK, but ',
    ', Assertions: ',
  ],
  extract: (log, lines, found) => {
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const mark = MARKS.find(({ pattern }) => pattern.test(text));
      if (mark !== undefined) addMark(log, line, text, mark, found);
    }
  },
};

function addMark(log: LogText, line: number, text: string, mark: Mark, found: Findings): void {
  const { weight, reason, limit = 0, until } = mark;
  const end = findBlockEnd(log, line, limit, (below) => until?.test(below) !== true);
  found.block(line, line, weight, reason);
  if (end > line) found.block(line, end, weight - 2, reason);
  if (mark.toolchain !== undefined) found.toolchains.add(mark.toolchain);
  if (mark.message === undefined) return;
  const below = listLinesBetween(log, line + 1, end).map((below) => below.trim());
  const message =
    mark.message === 'line'
      ? text.trim()
      : (below.find((line) => line.startsWith('> '))?.slice(2) ?? below[0] ?? '');
  // Other lines say better which tests failed or what did not compile.
  const worth = /There were failing tests|Compilation failed/.test(message) ? 30 : weight;
  found.message(mark.message === 'line' ? line : line + 1, message, worth);
}
