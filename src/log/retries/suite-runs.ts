import type { FailingTest } from '../../domain/failure.ts';
import { findMin } from '../../lib/collections.ts';
import type { LogText } from '../lines/lines.ts';
import type { LineRange } from '../sections/system.ts';
import { listRangesOfTest } from './retried-tests.ts';

/** The totals with which one run of a runner ended, on the lines `line` to `end`. */
interface Totals {
  readonly runner: string;
  readonly line: number;
  readonly end: number;
  readonly ran: number;
  readonly failed: number;
}

/** A form of a runner's totals. A count whose pattern is missing is zero. */
interface TotalsForm {
  readonly runner: string;
  readonly pattern: RegExp;
  /** Matches a line below with the number of failures, as the group `failed`. */
  readonly below?: RegExp;
}

const WITHIN = 6;

// biome-ignore format: one row for each runner
const FORMS: readonly TotalsForm[] = [
  { runner: 'unittest', pattern: /^Ran (?<ran>\d{1,7}) tests? in /,
    below: new RegExp(
      String.raw`^(?:OK\b|FAILED \((?:[a-z ]{1,30}=\d{1,6}, ){0,4}?failures=(?<failed>\d{1,6})|` +
      String.raw`FAILED \((?:[a-z ]{1,30}=\d{1,6}, ){0,4}?errors=(?<errors>\d{1,6}))`,
    ) },
  { runner: 'pytest',
    pattern: new RegExp(
      String.raw`^(?:={3,200} )?(?:(?<failed>\d{1,7}) failed)?(?:, )?(?:(?<passed>\d{1,7}) passed)?` +
      String.raw`(?:, \d{1,7} [a-z]{4,12}){0,6} in [\d.]{1,12}s\b`,
    ) },
  { runner: 'jest',
    pattern: new RegExp(
      String.raw`^Tests: {1,8}(?:(?<failed>\d{1,7}) failed, )?(?:\d{1,7} \w{4,8}, ){0,3}` +
      String.raw`(?:(?<passed>\d{1,7}) passed, )?\d{1,7} total$`,
    ) },
  { runner: 'vitest',
    pattern: new RegExp(
      String.raw`^\s{1,8}Tests {1,4}(?:(?<failed>\d{1,7}) failed(?: \| )?)?(?:(?<passed>\d{1,7}) passed)?` +
      String.raw`(?: \| \d{1,7} \w{4,8}){0,3} \(\d{1,7}\)$`,
    ) },
  { runner: 'mocha', pattern: /^\s{1,4}(?<passed>\d{1,7}) passing \(/,
    below: /^\s{1,4}(?<failed>\d{1,7}) failing$/ },
  { runner: 'cargo',
    pattern: /^test result: (?:ok|FAILED)\. (?<passed>\d{1,7}) passed; (?<failed>\d{1,7}) failed;/ },
  { runner: 'rspec',
    pattern: new RegExp(
      String.raw`^(?<ran>\d{1,7}) (?:examples?|runs|tests), (?:\d{1,7} assertions, )?` +
      String.raw`(?<failed>\d{1,7}) failures?`,
    ) },
  { runner: 'phpunit',
    pattern: new RegExp(
      String.raw`^(?:OK \((?<passed>\d{1,7}) tests?, |Tests: (?<ran>\d{1,7}), Assertions: \d{1,7}` +
      String.raw`(?:, Errors: (?<errors>\d{1,6}))?(?:, Failures: (?<failed>\d{1,6}))?)`,
    ) },
  { runner: 'maven',
    pattern: new RegExp(
      String.raw`^\[(?:INFO|ERROR|WARNING)\] Tests run: (?<ran>\d{1,7}), Failures: (?<failed>\d{1,7})` +
      String.raw`, Errors: (?<errors>\d{1,7}), Skipped: \d{1,7}$`,
    ) },
  { runner: 'node-test', pattern: /^\W{0,4}tests (?<ran>\d{1,7})$/,
    below: /^\W{0,4}fail (?<failed>\d{1,7})$/ },
  { runner: 'ctest',
    pattern: /^\d{1,3}% tests passed, (?<failed>\d{1,7}) tests? failed out of (?<ran>\d{1,7})$/ },
  { runner: 'prove', pattern: /^Files=\d{1,6}, Tests=(?<ran>\d{1,7}), /,
    below: /^Result: (?:PASS|(?<bad>FAIL))$/ },
];

/** Literals, case ignored. Every line that counts tests contains one of them. */
export const TOTALS_LITERALS: readonly string[] = [
  'Ran ',
  ' passed in ',
  ' failed in ',
  ' rerun in ',
  ' warnings in ',
  ' warning in ',
  ' deselected in ',
  ' skipped in ',
  'xfailed in ',
  ' xpassed in ',
  'Tests: ',
  '  Tests ',
  ' passing (',
  'test result: ',
  ' examples, ',
  ' example, ',
  ' runs, ',
  'OK (',
  'Tests run: ',
  'tests ',
  '% tests passed',
  'Files=',
];

/** Messages of scripts, CI systems and plugins that what failed is run again. */
const AGAIN = new RegExp(
  String.raw`\b(?:re-?try(?:ing)?|re-?runn?(?:ing)?|(?:run|runs|running|try|trying|start|` +
    String.raw`starting)\b.{0,30}\b(?:again|once more))\b|\battempt(?: |:|#|\b.{0,12}\b)(?:[2-9]|` +
    String.raw`\d\d)\b|\b(?:second|third|2nd|3rd) (?:try|run|attempt)\b`,
  'i',
);
/** The maximum number of lines between the totals of a run and the message that it is repeated. */
const MAX_BETWEEN = 40;
const MAX_RUNS = 500;
const TRACE = /^\+{1,3} (?!sleep |echo |true$|exit )/;

/**
 * Finds runs of a whole suite that were repeated because they failed. Returns the tests that failed in an
 * earlier run but not in the last one, with their lines. Requires evidence of a repetition: a message about
 * another attempt between two runs, the same command traced again, or a build that passed (`isGreen`). Two
 * runs are of the same suite if the later one ran as many tests as the one before, or as many as had failed.
 */
export function readSuiteRuns(
  log: LogText,
  lines: readonly number[],
  failing: readonly FailingTest[],
  isGreen: boolean,
): { readonly passed: readonly FailingTest[]; readonly ranges: readonly LineRange[] } {
  const runs = lines.flatMap((line) => readTotals(log, line)).slice(0, MAX_RUNS);
  const passed = new Set<FailingTest>();
  const ranges: LineRange[] = [];
  for (const [at, first] of runs.entries()) {
    const before = runs[at - 1];
    const start = (before?.end ?? 0) + 1;
    const second = runs.slice(at + 1).find(({ runner }) => runner === first.runner);
    if (first.failed === 0 || second === undefined || !isSameSuite(first, second)) continue;
    const again =
      findLineOfRerun(log, first, second) ?? (isGreen && second.failed === 0 ? first.end + 1 : null);
    if (again === null) continue;
    const isIn = (test: FailingTest, from: number, to: number) =>
      listRangesOfTest(test, log.name).some((range) => range.start >= from && range.start <= to);
    const over = failing.filter(
      (test) => isIn(test, start, first.line) && !isIn(test, first.line + 1, log.lineCount),
    );
    for (const test of over) passed.add(test);
    if (second.failed === 0)
      ranges.push({ start: findFirstOutput(log, start, over, first.line), end: again - 1 });
  }
  return { passed: [...passed], ranges };
}

function readTotals(log: LogText, line: number): Totals[] {
  const text = log.line(line).trimEnd();
  for (const { runner, pattern, below } of FORMS) {
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const more = below === undefined ? null : readBelow(log, line, below);
    const count = (name: string) => Number(groups[name] ?? more?.groups[name] ?? 0);
    const failed = count('failed') + count('errors') + Number(more?.groups.bad !== undefined);
    const ran = groups.ran === undefined ? count('passed') + failed : count('ran');
    if (ran > 0) return [{ runner, line, end: more?.line ?? line, ran, failed }];
  }
  return [];
}

function readBelow(log: LogText, line: number, below: RegExp) {
  for (let at = line + 1; at <= line + WITHIN; at++) {
    const groups = below.exec(log.line(at).trimEnd())?.groups;
    if (groups !== undefined) return { line: at, groups };
  }
  return null;
}

function isSameSuite(first: Totals, second: Totals): boolean {
  return second.ran === first.ran || second.ran === first.failed;
}

/** Finds the line that announces that a run is repeated, or that shows its command again. */
function findLineOfRerun(log: LogText, first: Totals, second: Totals): number | null {
  const last = Math.min(second.line - 1, first.end + MAX_BETWEEN);
  for (let line = first.end + 1; line <= last; line++) {
    const text = log.line(line);
    if (AGAIN.test(text)) return line;
    if (TRACE.test(text)) return `${text} `.startsWith(`${traceAbove(log, first.line)} `) ? line : null;
  }
  return null;
}

function traceAbove(log: LogText, from: number): string | null {
  for (let line = from; line >= Math.max(1, from - 2_000); line--)
    if (TRACE.test(log.line(line))) return log.line(line);
  return null;
}

function findFirstOutput(log: LogText, start: number, over: readonly FailingTest[], end: number): number {
  const starts = over
    .flatMap((test) => listRangesOfTest(test, log.name).map((range) => range.start))
    .filter((line) => line >= start);
  return findMin(starts, end);
}
