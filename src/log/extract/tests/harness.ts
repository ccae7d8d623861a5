import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween } from './test-list.ts';

/** What a line says of a whole run, or of the process that ran it. */
interface Mark {
  readonly pattern: RegExp;
  readonly weight: number;
  readonly reason: string;
  /** The lines below that belong to it: all up to this one, `limit` of them; none where both are absent. */
  readonly until?: RegExp;
  readonly limit?: number;
  /** The message: the line itself, or the first below it, that of a `> ` before any other. */
  readonly message?: 'line' | 'below';
  readonly toolchain?: string;
}

const MARKS: readonly Mark[] = [
  { pattern: /\bTEST-UNEXPECTED-\w{1,20} \| /, weight: 88, reason: 'unexpected test result' },
  { pattern: /\bPROCESS-CRASH \| /, weight: 90, reason: 'crashed process', message: 'line' },
  {
    pattern: /\b(?:Assertion failure: |Hit MOZ_CRASH|MOZ_ASSERT|###!!! ASSERTION|###!!! ABORT)/,
    weight: 84,
    reason: 'failed assertion of the program',
    message: 'line',
  },
  {
    pattern: /^(?:={2}\d{1,10}={2}\s?|PID \d{1,9} \| .{0,30})?(?:ERROR|SUMMARY|WARNING): \w{1,30}Sanitizer\b/,
    weight: 88,
    reason: 'sanitizer report',
    message: 'line',
  },
  { pattern: /: runtime error: .{1,200}/, weight: 82, reason: 'undefined behaviour', message: 'line' },
  {
    pattern: /^={2}\d{1,10}={2}\s{1,4}(?:Invalid (?:read|write|free)|definitely lost|Conditional jump|ERROR SUMMARY: [1-9])/,
    weight: 80,
    reason: 'valgrind report',
    message: 'line',
  },
  { pattern: /LEAKING THE WORLD|^(?:ERROR|CRITICAL|FATAL) - /, weight: 76, reason: 'error of the harness', message: 'line' },
  {
    pattern: /^\[taskcluster:error\]|^\[taskcluster\] .{0,40}(?:Unsuccessful|exceeded)/,
    weight: 78,
    reason: 'error of the task runner',
    message: 'line',
  },
  {
    pattern: /^\* What went wrong/,
    weight: 72,
    reason: 'what went wrong, says gradle',
    until: /^\* (?:Try|Exception|Get more)/,
    limit: 12,
    message: 'below',
  },
  {
    pattern: /^(?:> Task )?:[\w:-]{1,200} FAILED$/,
    weight: 58,
    reason: 'failing gradle task',
    until: /^(?:> Task|FAILURE:|\d{1,5} actionable)/,
    limit: 25,
    toolchain: 'gradle',
  },
  {
    pattern: /Failed to execute goal/,
    weight: 66,
    reason: 'maven goal failed',
    until: /^(?!\[ERROR\] (?!To see|Re-run|For more|-> \[Help)\S)/,
    limit: 25,
    toolchain: 'maven',
  },
  { pattern: /Tests run:.{0,200}<<</, weight: 80, reason: 'failing test class' },
  {
    pattern: /^(?:\[ERROR\] )?(?:Failed tests|Tests in error|Failures|Errors):\s{0,4}/,
    weight: 81,
    reason: 'list of failing tests',
    until: /^(?!(?:\[ERROR\])?\s{1,8}\S)/,
    limit: 60,
  },
  { pattern: /^go: (?!downloading|finding|extracting|added|upgraded)\S/, weight: 72, reason: 'go command', limit: 2, message: 'line' },
  { pattern: /^FAIL\t\S/, weight: 60, reason: 'failing go package' },
  { pattern: /^--- stderr/, weight: 70, reason: 'stderr of a build script', limit: 15 },
  { pattern: /^\s{0,4}FAIL\s{1,3}(?:[\w@/-]{1,60}\s)?\S{1,300}\.\w{1,6}(?: [([].{1,60}[)\]])?$/, weight: 74, reason: 'failing test file' },
  { pattern: /^(?:Failed \d{1,5}\/\d{1,5} subtests|Dubious, test returned|No subtests run)/, weight: 84, reason: 'failed test script' },
  { pattern: /^Test Summary Report$/, weight: 82, reason: 'summary of the tests', until: /^(?:Files=|Result:)/, limit: 30 },
  {
    pattern: /^\s{0,4}(?:Failing|Failed|Errored) scenarios:$/i,
    weight: 74,
    reason: 'failing scenarios',
    until: /^(?!.{0,300}\.feature:\d)/,
    limit: 40,
  },
  {
    pattern:
      /^(?:ERROR:\s{1,6}|\s{2})?[\w.-]{1,60}: (?:commands failed|FAIL(?: \w{1,20} \S{1,10})? \(|InvocationError|could not install deps)|^ERROR: InvocationError for command|^nox > Session .{1,80} failed\.$/,
    weight: 52,
    reason: 'failing environment',
  },
  {
    pattern:
      /^={3,200} .{0,200}\b(?:\d{1,6} (?:failed|errors?)|no tests ran)\b.{0,200}[^=]={3,200}$|^test result: FAILED|^\s{0,8}(?:Test Suites|Tests|Test Files):? {1,8}\d{1,6} failed|^(?:\[\w{1,8}\] )?Tests run: \d{1,7}, Failures: (?:[1-9]\d{0,6}, Errors: \d|0, Errors: [1-9])|^\d{1,6} tests completed, \d{1,6} failed|^(?:OK, but |Tests: \d{1,7}, Assertions: \d{1,7}, )|^Result: FAIL|^\s{0,8}(?:✖ )?\d{1,6} (?:failing|of \d{1,6} tests failed:?|tests? failed:?)$/,
    weight: 52,
    reason: 'test totals',
  },
];

/** What runners and harnesses say of a run as a whole: its totals, its failed scripts and environments, processes that crashed. */
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

function addMark(log: LogText, line: number, text: string, mark: Mark, found: Extraction): void {
  const { weight, reason, limit = 0, until } = mark;
  const end = blockEnd(log, line, limit, (below) => until?.test(below) !== true);
  found.blocks.push({ start: line, end: line, weight, reason });
  if (end > line) found.blocks.push({ start: line, end, weight: weight - 2, reason });
  if (mark.toolchain !== undefined) found.toolchains.add(mark.toolchain);
  if (mark.message === undefined) return;
  const below = linesBetween(log, line + 1, end).map((one) => one.trim());
  const said = mark.message === 'line' ? text.trim() : (below.find((one) => one.startsWith('> '))?.slice(2) ?? below[0] ?? '');
  // That tests failed, or that something did not compile, is told better elsewhere.
  const worth = /There were failing tests|Compilation failed/.test(said) ? 30 : weight;
  found.messages.push({
    text: said.slice(0, 500),
    at: { source: log.name, line: mark.message === 'line' ? line : line + 1 },
    weight: worth,
  });
}
