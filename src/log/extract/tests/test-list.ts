import type { FailingTest } from '../../../domain/failure.ts';
import { splitExpectation } from '../../expectation.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction } from '../extraction.ts';
import { failingTest } from '../extraction.ts';
import { isTestFile } from './block.ts';

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
      propose(log, found, start, end, seen.size, test);
      if (framework !== UNKNOWN) found.toolchains.add(framework);
      if (before === undefined) seen.set(key, found.failingTests.push(test) - 1);
      else found.failingTests[index] = joined(before, test);
    },
  };
}

/** The lines `start` to `end`, at most `limit` of them. */
export function linesBetween(log: LogText, start: number, end: number, limit = MAX_BODY): string[] {
  return Array.from({ length: Math.max(0, Math.min(end - start + 1, limit)) }, (_, i) => log.line(start + i));
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
  const first = body.find((text) => text.trim() !== '' && !text.includes(known.name))?.trim();
  // A rule or the head of a YAML block is no message.
  const message = first === undefined || !/[\p{L}\p{N}]/u.test(first) ? null : first.slice(0, 1_000);
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

/** The whole block, its beginning, and where it says what went wrong, which may be far below. */
function propose(log: LogText, found: Extraction, start: number, end: number, nth: number, { framework, message }: FailingTest): void {
  const less = Math.min(nth, 30) * 0.4;
  const reason = framework === UNKNOWN ? 'failing test' : `${framework} failure`;
  const add = (from: number, to: number, weight: number) =>
    found.blocks.push({ start: from, end: Math.min(to, end), weight: weight - less, reason });
  if (end === start) return void add(start, end, 72);
  add(start, end, 86);
  add(start, start + 8, 91);
  const said = message === null ? -1 : linesBetween(log, start + 9, end, 400).findIndex((text) => text.includes(message));
  if (said !== -1) add(start + said + 6, start + said + 17, 92);
}

function definedOf(known: KnownTest): KnownTest & Partial<FailingTest> {
  const kept = Object.entries(known).filter(([, value]) => value !== undefined && value !== null);
  return { ...Object.fromEntries(kept), name: known.name };
}

/** The place where more is told of a test is the one to show. */
function joined(before: FailingTest, after: FailingTest): FailingTest {
  const isFuller = before.message === null && after.message !== null;
  const isOwn =
    after.file === null || after.file === undefined || (before.file !== null && (isTestFile(before.file) || !isTestFile(after.file)));
  return {
    ...before,
    file: isOwn ? before.file : after.file,
    line: isOwn
      ? (before.line ?? (before.file === after.file ? after.line : null))
      : (after.line ?? (before.file === null ? before.line : null)),
    message: before.message ?? after.message,
    expected: before.expected ?? after.expected,
    actual: before.actual ?? after.actual,
    at: isFuller ? after.at : before.at,
  };
}
