import { splitExpectation } from '../../expectation.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { failingTest } from '../extraction.ts';

/** Kotlin's native and browser targets name class and method in one. */
const WHOLE = /^(?:[a-z_]\w{0,80}\.){1,20}[A-Z][\w$]{0,200}\.[\w$]{1,200}(?:\[[\w, ]{1,60}\])?$/;
/** A title that begins with the class itself. */
const FULL =
  /^(?<suite>(?:[a-z_]\w{0,80}\.){1,20}[A-Z][\w$]{0,200}|[\w$]{1,100}(?:\.[\w$]{1,100}){1,20}(?=\.[\w$]{1,200}(?:\[.{1,200})?$))\.(?<name>\S.{0,400})$/;
/** Where the runs and executors around a test are named before it. */
const AROUND = /^(?:Gradle (?:Test Run|Test Executor|suite)\b[^>\n]{0,100} > ){1,3}/;
const MAX_LINES = 60;

/** Gradle: failing tests, failing tasks, and its own account of what went wrong. */
export const gradle: Extractor = {
  name: 'gradle',
  literals: [' FAILED', 'FAILURE: Build', '* What went wrong', 'BUILD FAILED', ' tests completed, '],
  extract: (log, lines, found) => {
    let nth = 0;
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const title = readTitle(text);
      if (title !== null) readTest(log, line, title, found, nth++);
      else if (text.startsWith('* What went wrong')) readAccount(log, line, found);
      else if (/^(?:> Task )?:[\w:-]{1,200} FAILED$/.test(text)) taskFailed(log, line, found);
      else if (/^\d{1,6} tests completed, \d{1,6} failed/.test(text))
        found.blocks.push({ start: line, end: line, weight: 55, reason: 'gradle test totals' });
    }
  },
};

interface Title {
  readonly suite: string;
  readonly name: string;
}

/** `org.x.TaxTest > monthly() FAILED`, the suite and the name on either side of the last `>`. */
function readTitle(text: string): Title | null {
  if (!text.endsWith(' FAILED')) return null;
  const title = text.slice(0, -' FAILED'.length).replace(AROUND, '');
  const at = title.lastIndexOf(' > ');
  if (at === -1) return WHOLE.test(title) ? splitAt(title, title.lastIndexOf('.'), 1) : null;
  if (!/^[\w$.]/.test(title) || /^(?:Task|FAIL\b)/.test(title)) return null;
  const { suite, name } = splitAt(title, at, 3);
  const full = FULL.exec(name)?.groups;
  return full?.suite === undefined ? { suite, name } : { suite: full.suite, name: full.name ?? '' };
}

function splitAt(text: string, at: number, gap: number): Title {
  return { suite: text.slice(0, at).trim(), name: text.slice(at + gap).trim() };
}

function readTest(log: LogText, line: number, { suite, name }: Title, found: Extraction, nth: number): void {
  let end = line;
  while (end < Math.min(log.lineCount, line + MAX_LINES) && /^\s{1,20}\S/.test(log.line(end + 1))) end++;
  const body = Array.from({ length: Math.min(end - line, 40) }, (_, i) => log.line(line + 1 + i));
  const simple =
    suite
      .split(/[.$ >]/)
      .filter((part) => part !== '')
      .at(-1) ?? suite;
  const frames = body.map(readFrame);
  const frame = frames.find((one) => one?.file.startsWith(`${simple}.`)) ?? frames.find((one) => one?.own === true);
  const at = / at (?<file>\w{1,100}\.\w{1,8}):(?<line>\d{1,6})$/.exec(body[0] ?? '')?.groups;
  const place = { file: frame?.file ?? at?.file ?? null, line: frame?.line ?? (at === undefined ? null : Number(at.line)) };
  found.failingTests.push(
    failingTest(log, line, 'gradle', {
      name,
      suite,
      ...place,
      message: body[0]?.trim() ?? null,
      ...splitExpectation(body.slice(0, 12).join('\n')),
    }),
  );
  const less = Math.min(nth, 30) * 0.4;
  found.blocks.push({ start: line, end, weight: 87 - less, reason: 'gradle test failure' });
  found.blocks.push({ start: line, end: Math.min(end, line + 6), weight: 91 - less, reason: 'gradle test failure' });
}

function readAccount(log: LogText, line: number, found: Extraction): void {
  let end = line;
  while (end < Math.min(log.lineCount, line + 40) && !/^\* (?:Try|Exception|Get more)/.test(log.line(end + 1))) end++;
  while (end > line && log.line(end).trim() === '') end--;
  found.blocks.push({ start: line, end: Math.min(end, line + 12), weight: 72, reason: 'what went wrong, says gradle' });
  const reason = log.line(Math.min(end, line + 2)).trim();
  const text = /^[>]\s/.test(reason) ? reason.slice(2) : log.line(line + 1).trim();
  found.messages.push({
    text,
    at: { source: log.name, line: line + 1 },
    weight: /There were failing tests|Compilation failed/.test(text) ? 30 : 72,
  });
}

/** What a failing task printed stands below its name, compilers' findings among it. */
function taskFailed(log: LogText, line: number, found: Extraction): void {
  found.toolchains.add('gradle');
  found.blocks.push({ start: line, end: line, weight: 58, reason: 'failing gradle task' });
  let end = line;
  while (end < Math.min(log.lineCount, line + 25) && !/^(?:> Task|FAILURE:|\d{1,5} actionable)/.test(log.line(end + 1))) end++;
  if (end > line) found.blocks.push({ start: line, end, weight: 56, reason: 'output of the failing gradle task' });
}
