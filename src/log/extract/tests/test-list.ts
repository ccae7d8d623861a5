import type { FailingTest } from '../../../domain/failure.ts';
import { splitExpectation } from '../../expectation.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction } from '../extraction.ts';
import { failingTest } from '../extraction.ts';

/** What a reader knows of one failing test beside the lines that tell of it. */
export type KnownTest = Pick<FailingTest, 'name'> &
  Partial<Pick<FailingTest, 'suite' | 'file' | 'line' | 'message' | 'expected' | 'actual'>>;

/** Collects the failing tests of one framework; a test told of twice (where it ran, and in a summary) is one. */
export interface TestList {
  /** Adds a test told of by the lines `start` to `end`, 1-based and inclusive. What `known` leaves out is read from them where they show it. */
  add(known: KnownTest, start: number, end: number): void;
}

const MAX_BODY = 60;

/** The framework of tests whose runner is not known. */
export const UNKNOWN = 'tests';

/** Opens the list of one framework's failing tests in one log; `found` receives them with their weighted blocks. */
export function openTestList(log: LogText, found: Extraction, framework: string): TestList {
  const seen = new Map<string, number>();
  return {
    add(known, start, end) {
      if (known.name === '') return;
      const key = `${known.suite ?? ''}\u0001${known.name}`;
      const test = failingTest(log, start, framework, { ...readBody(log, start, end, known), ...definedOf(known) });
      const index = seen.get(key) ?? -1;
      const before = found.failingTests[index];
      propose(found, start, end, seen.size, framework);
      if (framework !== UNKNOWN) found.toolchains.add(framework);
      if (before === undefined) seen.set(key, found.failingTests.push(test) - 1);
      else found.failingTests[index] = joined(before, test);
    },
  };
}

/** The lines `start` to `end`, at most {@link MAX_BODY} of them. */
export function linesBetween(log: LogText, start: number, end: number): string[] {
  return Array.from({ length: Math.max(0, Math.min(end - start + 1, MAX_BODY)) }, (_, i) => log.line(start + i));
}

/** The nearest line above `line` that answers, looking at most `limit` lines up; the number it was found on and what it said. */
export function lookBack<T>(
  log: LogText,
  line: number,
  limit: number,
  read: (text: string) => T | null | undefined,
): { line: number; value: T } | null {
  for (let at = line - 1; at >= Math.max(1, line - limit); at--) {
    const value = read(log.line(at));
    if (value !== null && value !== undefined) return { line: at, value };
  }
  return null;
}

/** What a framework shows as a difference (`-` what was expected, `+` what came) or in its own words. */
function readBody(log: LogText, start: number, end: number, known: KnownTest): Partial<FailingTest> {
  const body = linesBetween(log, start + 1, end);
  const message =
    body
      .find((text) => text.trim() !== '' && !text.includes(known.name))
      ?.trim()
      .slice(0, 1_000) ?? null;
  const frame = known.file === undefined || known.file === null ? body.map(readFrame).find((one) => one?.own === true) : undefined;
  const place = frame === undefined || frame === null ? {} : { file: frame.file, line: frame.line };
  return { message, ...place, ...expectationOf(body) };
}

function expectationOf(body: readonly string[]): Pick<FailingTest, 'expected' | 'actual'> {
  const said = splitExpectation(body.join('\n'));
  if (said.expected !== null) return said;
  const head = body.findIndex((text) => /^\s{0,12}--- ?Expected\s{0,4}$/i.test(text));
  const [expected, actual] =
    head === -1 ? [] : ['-', '+'].map((sign) => body.slice(head + 2).find((text) => text.trimStart().startsWith(sign)));
  return { expected: expected?.trim().slice(1).trim() ?? null, actual: actual?.trim().slice(1).trim() ?? null };
}

function propose(found: Extraction, start: number, end: number, nth: number, framework: string): void {
  const less = Math.min(nth, 30) * 0.4;
  const reason = framework === UNKNOWN ? 'failing test' : `${framework} failure`;
  if (end === start) found.blocks.push({ start, end, weight: 72 - less, reason });
  else found.blocks.push({ start, end, weight: 86 - less, reason }, { start, end: Math.min(end, start + 8), weight: 91 - less, reason });
}

function definedOf(known: KnownTest): KnownTest & Partial<FailingTest> {
  const kept = Object.entries(known).filter(([, value]) => value !== undefined && value !== null);
  return { ...Object.fromEntries(kept), name: known.name };
}

/** The place where more is told of a test is the one to show. */
function joined(before: FailingTest, after: FailingTest): FailingTest {
  const isFuller = before.message === null && after.message !== null;
  return {
    ...before,
    file: before.file ?? after.file,
    line: before.file === null || before.file === after.file ? (before.line ?? after.line) : before.line,
    message: before.message ?? after.message,
    expected: before.expected ?? after.expected,
    actual: before.actual ?? after.actual,
    at: isFuller ? after.at : before.at,
  };
}
