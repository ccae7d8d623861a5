import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import type { TestList } from './test-list.ts';
import { linesBetween, openTestList } from './test-list.ts';

const LIST = /^There (?:was|were) (?<count>\d{1,5}) (?:failure|error)s?:$/;
const OTHER = /^There (?:was|were) \d{1,5} .{1,60}:$|^\d{1,5} tests? triggered |^(?:FAILURES!|ERRORS!|WARNINGS!|OK\b|Tests: \d)/;
const ITEM =
  /^\d{1,5}\) (?:(?<suite>[\w\\]{2,300})::(?<name>\w{1,200}(?: with data set (?:#\d{1,6}|"[^"\n]{0,200}"))?)|(?<title>[\w\\]{2,200}: .{1,300}))/;
const CODECEPTION = /^\s{0,4}Test {1,4}(?<file>[^\s:]{1,300}):(?<name>\w{1,200})/;
const PLACE = /^(?<file>(?:\/|[A-Z]:\\|phar:)?[^\s:]{1,300}\.php):(?<line>\d{1,7})$/;
const TOTALS = /^(?:OK, but |Tests: \d{1,7}, Assertions: \d{1,7}, )/;

/** PHPUnit's numbered lists of failures and errors (never of risky, incomplete or skipped tests), and Codeception's. */
export const phpunit: Extractor = {
  name: 'phpunit',
  literals: ['There was 1 failure', 'There was 1 error', ' failures:', ' errors:', 'OK, but ', ', Assertions: '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'phpunit');
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const count = LIST.exec(text)?.groups?.count;
      if (count !== undefined) readItems(log, line, Number(count), list);
      else if (TOTALS.test(text)) addTotals(found, line);
    }
  },
};

function addTotals(found: Extraction, line: number): void {
  found.blocks.push({ start: line, end: line, weight: 45, reason: 'test totals' });
}

function readItems(log: LogText, head: number, count: number, list: TestList): void {
  let line = head;
  for (let number = 1; number <= Math.min(count, 500); number++) {
    const start = itemBelow(log, line, number);
    if (start === 0) return;
    const end = blockEnd(log, start, 300, (text) => !text.startsWith(`${number + 1}) `) && text !== '--' && !OTHER.test(text));
    readItem(log, start, end, list);
    line = end;
  }
}

function itemBelow(log: LogText, line: number, number: number): number {
  for (let at = line + 1; at <= Math.min(log.lineCount, line + 8); at++) if (log.line(at).startsWith(`${number}) `)) return at;
  return 0;
}

function readItem(log: LogText, start: number, end: number, list: TestList): void {
  const item = ITEM.exec(log.line(start))?.groups;
  if (item === undefined) return;
  const body = linesBetween(log, start + 1, end);
  if (item.title !== undefined) {
    const test = body.map((text) => CODECEPTION.exec(text)?.groups).find((one) => one !== undefined);
    if (test?.name === undefined) return;
    const said = body.find((text) => /^\s{0,4}Fail {1,4}\S/.test(text))?.replace(/^\s{0,4}Fail {1,4}/, '') ?? null;
    list.add({ name: test.name, suite: item.title.split(':')[0] ?? null, file: test.file ?? null, message: said }, start, end);
    return;
  }
  const places = body.map((text) => PLACE.exec(text.trim())?.groups).filter((one) => one?.file?.includes('/vendor/') === false);
  const simple = item.suite?.split('\\').at(-1) ?? '';
  const place = places.find((one) => one?.file?.endsWith(`${simple}.php`)) ?? places.at(-1);
  const at = { file: place?.file ?? null, line: place?.line === undefined ? null : Number(place.line) };
  list.add({ name: item.name ?? '', suite: item.suite ?? null, ...at }, start, end);
}
