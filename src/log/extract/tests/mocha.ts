import { splitExpectation } from '../../expectation.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { failingTest } from '../extraction.ts';

const ITEM = /^(?<indent>\s{0,8})(?<number>\d{1,5})\) (?<title>\S.{0,500}?)\s{0,8}$/;
const MAX_LINES = 120;
const MAX_ITEMS = 500;

/** Mocha's numbered list after `N failing`; also Cypress and Jasmine, which number theirs in the same way. */
export const mocha: Extractor = {
  name: 'mocha',
  literals: [' failing', 'failures:', ' failed'],
  extract: (log, lines, found) => {
    let end = 0;
    for (const line of lines) {
      const text = log.line(line);
      if (
        line <= end ||
        !/^\s{0,8}(?:✖ )?\d{1,6} (?:failing|of \d{1,6} tests failed:?|tests? failed:?)$|^\s{0,4}Failures:\s{0,4}$/.test(text)
      )
        continue;
      end = readList(log, line, found);
    }
  },
};

function readList(log: LogText, head: number, found: Extraction): number {
  let line = head + 1;
  let expected = 1;
  const framework = /failing/.test(log.line(head)) || /tests? failed/.test(log.line(head)) ? 'mocha' : 'jasmine';
  while (expected <= MAX_ITEMS) {
    const start = findItem(log, line, expected);
    if (start === 0) break;
    line = readItem(log, start, expected, framework, found) + 1;
    expected++;
  }
  if (expected > 1) found.blocks.push({ start: head, end: head, weight: 70, reason: `${framework} totals` });
  return line - 1;
}

function findItem(log: LogText, from: number, number: number): number {
  for (let line = from; line <= Math.min(log.lineCount, from + 40); line++) {
    if (ITEM.exec(log.line(line))?.groups?.number === String(number)) return line;
  }
  return 0;
}

function readItem(log: LogText, start: number, number: number, framework: string, found: Extraction): number {
  const end = itemEnd(log, start, number);
  const titles = [ITEM.exec(log.line(start))?.groups?.title ?? ''];
  let line = start;
  while (
    line < end &&
    !/:$/.test(titles.at(-1) ?? '') &&
    titles.length < 8 &&
    /^\s{4,40}\S/.test(log.line(line + 1)) &&
    !/^\s{0,20}(?:at |Message:|[A-Z]\w{0,40}Error\b)/.test(log.line(line + 1))
  ) {
    line++;
    titles.push(log.line(line).trim());
  }
  const ended = /:$/.test(titles.at(-1) ?? '');
  const path = ended ? titles : titles.slice(0, 1);
  if (!ended) line = start;
  const name = (path.at(-1) ?? '').replace(/:$/, '');
  const body = bodyOf(log, line + 1, end);
  const frame = body.map(readFrame).find((one) => one?.own === true) ?? null;
  const message = body.find((text) => text.trim() !== '' && !/^\s{0,8}(?:Message:|Stack:)$/.test(text))?.trim() ?? null;
  const suite = path.slice(0, -1).join(' ') || null;
  found.failingTests.push(
    failingTest(log, start, framework, {
      name,
      suite,
      file: frame?.file ?? null,
      line: frame?.line ?? null,
      message,
      ...splitExpectation(body.join('\n')),
    }),
  );
  const less = Math.min(number, 30) * 0.4;
  found.blocks.push({ start, end, weight: 88 - less, reason: `${framework} failure` });
  found.blocks.push({ start, end: Math.min(end, line + 6), weight: 91 - less, reason: `${framework} failure` });
  return end;
}

function bodyOf(log: LogText, from: number, to: number): string[] {
  return Array.from({ length: Math.max(0, Math.min(to - from + 1, 60)) }, (_, i) => log.line(from + i));
}

function itemEnd(log: LogText, start: number, number: number): number {
  const last = Math.min(log.lineCount, start + MAX_LINES);
  let line = start;
  let blanks = 0;
  while (line < last) {
    const next = log.line(line + 1);
    if (
      ITEM.exec(next)?.groups?.number === String(number + 1) ||
      /^(?:npm ERR!|npm error|error Command|##\[|travis_|The command)/.test(next)
    )
      break;
    blanks = next.trim() === '' ? blanks + 1 : 0;
    if (blanks >= 3) break;
    line++;
  }
  while (line > start && log.line(line).trim() === '') line--;
  return line;
}
