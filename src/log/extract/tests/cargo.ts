import { splitExpectation } from '../../expectation.ts';
import { isForeignFile } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { blockEnd, failingTest } from '../extraction.ts';

const PANIC =
  /^(?:thread '(?<thread>[^']{0,300})' (?:\(\d{1,10}\) )?panicked at (?:'(?<old>.{0,600})', )?(?<file>[^\s:']{1,300}):(?<line>\d{1,7}):\d{1,6}:?)/;
/** A try that failed is no failure yet: the summary says how the last one ended. */
const NEXTEST = /^\s{1,12}(?:FAIL|TIMEOUT|SIG[A-Z]{3,5}) \[\s{0,8}[>\d.]{1,12}s\] (?:\([\s\d/]{1,20}\) )?\S{1,200} (?<name>\S.{0,300})$/;
const NEXTEST_LAST =
  /^\s{1,12}TRY \d{1,3} (?:FAIL|TMT|SIG[A-Z]{3,5}|ABORT) \[\s{0,8}[>\d.]{1,12}s\] (?:\([\s\d/]{1,20}\) )?\S{1,200} (?<name>\S.{0,300})$/;
const MAX_LINES = 60;

/** cargo test and nextest: what each failing test printed, panics, and the list of failures. */
export const cargo: Extractor = {
  name: 'cargo',
  literals: [
    ' stdout ----',
    'panicked at',
    ' ... FAILED',
    '    FAIL [',
    ' TIMEOUT [',
    ' SIGSEGV [',
    ' SIGABRT [',
    '     Summary [',
    'test result: FAILED',
    '--- stderr',
  ],
  extract: (log, lines, found) => {
    const seen = new Set<string>();
    for (const line of lines) {
      const text = log.line(line);
      const name =
        /^---- (?!end stdout)(\S.{0,300}) stdout ----$/.exec(text)?.[1] ??
        /^test (\S.{0,300}?)(?: - should panic)? \.\.\. FAILED$/.exec(text)?.[1] ??
        NEXTEST.exec(text)?.groups?.name;
      if (name !== undefined) addTest(log, line, name, text, found, seen);
      else if (/^\s{2,8}Summary \[/.test(text)) readRetried(log, line, found, seen);
      else if (text.includes('panicked at')) readPanic(log, line, text, found);
      else if (text.startsWith('--- stderr'))
        found.blocks.push({ start: line, end: Math.min(log.lineCount, line + 15), weight: 70, reason: 'stderr of a build script' });
      else if (text.startsWith('test result: FAILED'))
        found.blocks.push({ start: line, end: line, weight: 55, reason: 'cargo test totals' });
    }
  },
};

function addTest(log: LogText, line: number, name: string, text: string, found: Extraction, seen: Set<string>): void {
  const detail = text.startsWith('----');
  const end = detail ? sectionEnd(log, line) : line;
  const body = Array.from({ length: Math.min(30, end - line) }, (_, i) => log.line(line + 1 + i));
  const groups = body.map((one) => PANIC.exec(one)?.groups).find((one) => one !== undefined);
  const next = body.findIndex((one) => one.includes('panicked at')) + 1;
  const message = groups?.old ?? (next > 0 ? body[next] : undefined) ?? null;
  const known = {
    name,
    file: groups?.file ?? null,
    line: groups === undefined ? null : Number(groups.line),
    message,
    ...splitExpectation(body.join('\n')),
  };
  const at = found.failingTests.findIndex((test) => test.framework === 'cargo' && test.name === name);
  if (!seen.has(name)) found.failingTests.push(failingTest(log, line, 'cargo', known));
  else if (detail && at !== -1) found.failingTests[at] = failingTest(log, line, 'cargo', known);
  seen.add(name);
  const less = Math.min(seen.size, 30) * 0.4;
  if (detail) {
    found.blocks.push({ start: line, end, weight: 86 - less, reason: 'cargo test failure' });
    found.blocks.push({ start: line, end: Math.min(end, line + 8), weight: 91 - less, reason: 'cargo test failure' });
  } else found.blocks.push({ start: line, end: line, weight: 60, reason: 'failing cargo test' });
}

/** Nextest lists below its totals how the tests that failed ended at last. */
function readRetried(log: LogText, line: number, found: Extraction, seen: Set<string>): void {
  const end = blockEnd(log, line, 300, (text) => /^\s{2,12}[A-Z]/.test(text));
  for (let at = line + 1; at <= end; at++) {
    const name = NEXTEST_LAST.exec(log.line(at))?.groups?.name;
    if (name !== undefined) addTest(log, at, name, log.line(at), found, seen);
  }
}

function sectionEnd(log: LogText, line: number): number {
  let end = line;
  while (
    end < Math.min(log.lineCount, line + MAX_LINES) &&
    !/^---- .{1,300} stdout ----$|^failures:$|^test result:/.test(log.line(end + 1))
  )
    end++;
  return end;
}

function readPanic(log: LogText, line: number, text: string, found: Extraction): void {
  const groups = PANIC.exec(text)?.groups;
  let end = line;
  while (end < Math.min(log.lineCount, line + 6) && /^(?:note:|\s{2,20}(?:left|right):|assertion)/.test(log.line(end + 1))) end++;
  found.blocks.push({ start: line, end, weight: 84, reason: 'panic' });
  if (/^stack backtrace:/.test(log.line(end + 1)))
    found.blocks.push({ start: end, end: traceEnd(log, end + 1), weight: 60, reason: 'backtrace of a panic' });
  const message = groups?.old ?? log.line(line + 1).trim();
  const frame = {
    file: groups?.file ?? '',
    line: Number(groups?.line ?? 0),
    function: null,
    own: !isForeignFile(groups?.file ?? ''),
  };
  found.exceptions.push({
    type: 'panic',
    message: message.slice(0, 500),
    chain: ['panic'],
    frames: groups === undefined ? [] : [frame],
    at: { source: log.name, line },
  });
}

function traceEnd(log: LogText, line: number): number {
  let end = line;
  while (end < Math.min(log.lineCount, line + 60) && /^\s{1,40}(?:\d{1,4}:|at )/.test(log.line(end + 1))) end++;
  return end;
}
