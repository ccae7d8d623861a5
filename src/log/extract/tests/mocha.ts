import type { Expectation } from '../../expectation.ts';
import { splitExpectation } from '../../expectation.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { blockEnd, failingTest } from '../extraction.ts';

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
    if (start === 0 || (framework === 'jasmine' && !isJasmine(log, start))) break;
    line = readItem(log, start, expected, framework, found) + 1;
    expected++;
  }
  if (expected > 1) found.blocks.push({ start: head, end: head, weight: 70, reason: `${framework} totals` });
  return line - 1;
}

/** A title that holds a value printed on several lines goes on to the line that closes it. */
function readWholeTitle(log: LogText, line: number, end: number, titles: string[]): number {
  const first = titles.at(-1) ?? '';
  if (!/[{[(`]$/.test(first)) return line;
  const close = blockEnd(log, line, Math.min(40, end - line), (_, at) => !/:$/.test(log.line(at - 1)) || at - 1 === line);
  if (!/:$/.test(log.line(close))) return line;
  const rest = Array.from({ length: close - line }, (_, i) => log.line(line + 1 + i).trim());
  titles[titles.length - 1] = [first, ...rest].join(' ');
  return close;
}

/** Other frameworks number what failed below the same word. */
function isJasmine(log: LogText, start: number): boolean {
  return /^\s{0,8}(?:Message:|- )/.test(log.line(start + 1));
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
  line = readWholeTitle(log, line, end, titles);
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
      ...expectationOf(body, framework),
    }),
  );
  const less = Math.min(number, 30) * 0.4;
  found.blocks.push({ start, end, weight: 88 - less, reason: `${framework} failure` });
  found.blocks.push({ start, end: Math.min(end, line + 6), weight: 91 - less, reason: `${framework} failure` });
  return end;
}

/** Jasmine ends its sentences. */
function expectationOf(body: readonly string[], framework: string): Expectation {
  const said = splitExpectation(body.join('\n'));
  return framework === 'jasmine' ? { ...said, expected: said.expected?.replace(/\.$/, '') ?? null } : said;
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
