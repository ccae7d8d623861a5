import { splitExpectation } from '../../expectation.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { failingTest } from '../extraction.ts';

const HEADER = /^(?<outcome>FAIL|ERROR): (?<rest>\S.{0,500})$/;
const NAMED = /^(?<name>\S[^()]{0,200}?(?:\(.{0,200}?\))?) \((?<path>[\w.<>-]{1,300})\)(?: .{0,300})?$/;
const MAX_LINES = 300;

/** Python's unittest, nose and Django: `FAIL: name (module.Class)` under a rule of equals signs. */
export const unittest: Extractor = {
  name: 'unittest',
  literals: ['FAIL: ', 'ERROR: ', 'FAILED ('],
  extract: (log, lines, found) => {
    let nth = 0;
    for (const line of lines) {
      const text = log.line(line);
      if (/^FAILED \((?:\w{1,30}=\d{1,6}(?:, )?){1,8}\)/i.test(text))
        found.blocks.push({ start: line, end: line, weight: 55, reason: 'unittest totals' });
      const groups = HEADER.exec(text)?.groups;
      if (groups === undefined || !/^={20,200}$/.test(log.line(line - 1))) continue;
      readSection(log, line, groups.rest ?? '', found, nth++);
    }
  },
};

function readSection(log: LogText, line: number, title: string, found: Extraction, nth: number): void {
  const end = sectionEnd(log, line);
  const named = NAMED.exec(title)?.groups;
  const path = named?.path?.split('.') ?? [];
  const name = named?.name ?? title;
  if (path.at(-1) === name) path.pop();
  const raised = lastRaised(log, line, end);
  const message = raised === null ? null : log.line(raised).trim();
  const frame = ownFrame(log, line, end);
  found.failingTests.push(
    failingTest(log, line, 'unittest', {
      name,
      suite: path.join('.') || null,
      file: frame?.file ?? null,
      line: frame?.line ?? null,
      message,
      ...splitExpectation(message ?? ''),
    }),
  );
  const less = Math.min(nth, 30) * 0.4;
  found.blocks.push({ start: line, end, weight: 86 - less, reason: 'unittest failure' });
  found.blocks.push({ start: line, end: line, weight: 91 - less, reason: 'unittest failure' });
  if (raised !== null) found.blocks.push({ start: raised, end: Math.min(end, raised + 15), weight: 90 - less, reason: 'unittest error' });
}

function sectionEnd(log: LogText, start: number): number {
  const last = Math.min(log.lineCount, start + MAX_LINES);
  let line = start;
  while (line < last && !/^={20,200}$|^Ran \d{1,7} tests? in /.test(log.line(line + 1))) line++;
  while (line > start && /^-{20,200}$|^\s{0,20}$/.test(log.line(line))) line--;
  return line;
}

function lastRaised(log: LogText, start: number, end: number): number | null {
  let raised: number | null = null;
  for (let line = start + 1; line <= end; line++) {
    const text = log.line(line);
    if (
      /^[A-Za-z_][\w.]{0,200}(?:Error|Exception|Failure|Exit|Interrupt|Warning|Timeout)\b/.test(text) &&
      (raised === null || /^\s{2}File /.test(log.line(line - 2)))
    )
      raised = line;
    if (/-{8,} >> begin captured/.test(text)) break;
  }
  return raised;
}

function ownFrame(log: LogText, start: number, end: number): { file: string; line: number | null } | null {
  let own: { file: string; line: number | null } | null = null;
  for (let line = start; line <= end; line++) {
    const frame = readFrame(log.line(line));
    if (frame?.own === true && (own === null || /test/i.test(frame.file))) own = frame;
  }
  return own;
}
