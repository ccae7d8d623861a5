import { splitExpectation } from '../../expectation.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { blockEnd, failingTest } from '../extraction.ts';

const ANT = /^\s{0,12}(?:\[junit\] ?)?/;
/** Ant's brief form says all on one line. */
const BRIEF = /^Testcase: (?<name>.{1,300}?)\((?<suite>[\w$.]{1,300})\):\s{1,4}(?:FAILED|Caused an ERROR)\s{0,4}$/;
const MAX_LINES = 40;

/** JUnit's own console: Ant's `Testcase: … FAILED`, JUnit 4's numbered list, and the JUnit Platform launcher. */
export const junitConsole: Extractor = {
  name: 'junit',
  literals: ['[junit] \tFAILED', '\tFAILED', 'Caused an ERROR', 'JUnit Jupiter:', 'JUnit Vintage:', 'There was 1 failure', 'There were '],
  extract: (log, lines, found) => {
    let nth = 0;
    for (const line of lines) {
      const text = log.line(line).replace(ANT, '');
      if (/^\s{0,4}(?:FAILED|Caused an ERROR)\s{0,4}$/.test(text)) nth += readAnt(log, line, found, nth);
      else if (BRIEF.test(text)) nth += readBrief(log, line, text, found, nth);
      else if (/^\s{0,4}JUnit (?:Jupiter|Vintage):/.test(text)) nth += readPlatform(log, line, text.trim(), found, nth);
      else if (/^There (?:was|were) \d{1,5} (?:failure|error)s?:/.test(text)) nth += readNumbered(log, line, found, nth);
    }
  },
};

function readAnt(log: LogText, line: number, found: Extraction, nth: number): number {
  const name = /^Testcase: (.{1,300}?)(?:\([\w$.]{1,200}\))?(?: took [\d.]{1,12} sec)?:?\s{0,4}$/.exec(
    log.line(line - 1).replace(ANT, ''),
  )?.[1];
  if (name === undefined) return 0;
  let end = line;
  while (
    end < Math.min(log.lineCount, line + MAX_LINES) &&
    !/^\s{0,12}(?:\[junit\])?\s{0,4}(?:Testcase: .{0,300})?$/.test(log.line(end + 1))
  )
    end++;
  const suite = suiteOf(log, line, end, name);
  return push(log, line - 1, end, { name, suite }, log.line(line + 1), found, nth);
}

function readBrief(log: LogText, line: number, text: string, found: Extraction, nth: number): number {
  const test = BRIEF.exec(text)?.groups;
  if (test === undefined) return 0;
  const end = blockEnd(log, line, MAX_LINES, (next) => !/^\s{0,4}$|^Test(?:case|suite)?:? \S/.test(next.replace(ANT, '')));
  return push(log, line, end, { name: test.name ?? '', suite: test.suite ?? null }, log.line(line + 1), found, nth);
}

function suiteOf(log: LogText, start: number, end: number, name: string): string | null {
  const method = name.replace(/\[.*$/, '');
  for (let line = start; line <= end; line++) {
    const frame = readFrame(log.line(line).replace(ANT, ''));
    if (frame?.function?.endsWith(`.${method}`)) return frame.function.slice(0, -method.length - 1);
  }
  for (let line = start; line > Math.max(0, start - 2_000); line--) {
    const suite = /^Test(?:suite: | )?([\w$.]{3,300})(?: FAILED)?$/.exec(log.line(line).replace(ANT, ''))?.[1];
    if (suite !== undefined) return suite;
  }
  return null;
}

function readPlatform(log: LogText, line: number, title: string, found: Extraction, nth: number): number {
  const parts = title.split(':');
  if (!/=> |MethodSource|ClassSource/.test(log.line(line + 1) + log.line(line + 2))) return 0;
  const source = /className = '([\w$.]{1,300})', methodName = '([^']{1,200})'/.exec(log.line(line + 1));
  let end = line;
  while (
    end < Math.min(log.lineCount, line + MAX_LINES) &&
    /^\s{4,12}\S/.test(log.line(end + 1).replace(/^\s{0,12}\[junit\]/, '')) &&
    !/JUnit (?:Jupiter|Vintage):/.test(log.line(end + 1))
  )
    end++;
  const message = log
    .line(line + 2)
    .replace(ANT, '')
    .replace(/^\s{0,8}=> /, '');
  return push(
    log,
    line,
    end,
    { name: source?.[2] ?? parts.at(-1) ?? title, suite: source?.[1] ?? parts.at(-2) ?? null },
    message,
    found,
    nth,
  );
}

function readNumbered(log: LogText, head: number, found: Extraction, nth: number): number {
  let count = 0;
  let line = head + 1;
  while (line <= log.lineCount && count < 200) {
    const groups = /^\d{1,5}\) (?<name>[^()]{1,300})\((?<suite>[\w$.]{1,300})\)$/.exec(log.line(line).replace(ANT, ''))?.groups;
    if (groups === undefined) break;
    let end = line;
    while (end < Math.min(log.lineCount, line + 200) && !/^\d{1,5}\) |^\s{0,4}$|^FAILURES!!!/.test(log.line(end + 1).replace(ANT, '')))
      end++;
    count += push(
      log,
      line,
      Math.min(end, line + MAX_LINES),
      { name: groups.name ?? '', suite: groups.suite ?? null },
      log.line(line + 1),
      found,
      nth + count,
    );
    line = end + 1;
  }
  return count;
}

function push(
  log: LogText,
  start: number,
  end: number,
  known: { name: string; suite: string | null },
  message: string,
  found: Extraction,
  nth: number,
): number {
  const body = Array.from({ length: end - start }, (_, i) => log.line(start + 1 + i).replace(ANT, ''));
  const frame = body.map(readFrame).find((one) => one?.own === true);
  const text = message.replace(ANT, '').trim() || null;
  found.failingTests.push(
    failingTest(log, start, 'junit', {
      ...known,
      file: frame?.file ?? null,
      line: frame?.line ?? null,
      message: text,
      ...splitExpectation(body.slice(0, 10).join('\n')),
    }),
  );
  const less = Math.min(nth, 30) * 0.4;
  found.blocks.push({ start, end, weight: 87 - less, reason: 'JUnit failure' });
  found.blocks.push({ start, end: Math.min(end, start + 5), weight: 91 - less, reason: 'JUnit failure' });
  return 1;
}
