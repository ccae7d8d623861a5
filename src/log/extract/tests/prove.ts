import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import type { TestList } from './test-list.ts';
import { linesBetween, lookBack, openTestList } from './test-list.ts';

const FILE = /^(?:\[[\d:]{5,10}\] )?(?<name>\S{1,200}\.(?:t|sh|pl)) \.{2,80}/;
const FAILED =
  /^\s{0,12}#?\s{1,8}Failed test\b(?: (?:number \d{1,6}|'(?<quoted>.{1,300}?)'|\((?<bare>.{1,300}?)\)))?(?<below>$| at (?<file>\S{1,300}) line (?<line>\d{1,7})\.)/;
const PLACE = /^\s{0,12}#\s{1,8}(?:in|at) (?<file>\S{1,300}) (?:at )?line (?<line>\d{1,7})\.$/;

/** Perl's prove and Test::More: the checks that failed, each in its script; a script that failed without one; and the summary. */
export const prove: Extractor = {
  name: 'prove',
  literals: ['Dubious, test returned', ' subtests', 'Test Summary Report', 'Failed test', 'Result: FAIL'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'prove');
    const named = new Set<string>();
    for (const line of lines) readLine(log, line, found, list, named);
  },
};

function readLine(log: LogText, line: number, found: Extraction, list: TestList, named: Set<string>): void {
  const text = log.line(line).trimEnd();
  if (FAILED.test(text)) readCheck(log, line, text, list, named);
  else if (/^(?:Failed \d{1,5}\/\d{1,5} subtests|Dubious, test returned|No subtests run)/.test(text)) {
    found.blocks.push({ start: Math.max(1, line - 1), end: line, weight: 84, reason: 'failed test script' });
    const name = lookBack(log, line, 2, (above) => FILE.exec(above)?.groups?.name)?.value;
    if (name !== undefined && !named.has(name)) list.add({ name, file: name, message: text }, line, line);
  } else if (/^Test Summary Report$/.test(text)) {
    const end = blockEnd(log, line, 30, (next) => !/^(?:Files=|Result:)/.test(next));
    found.blocks.push({ start: line, end, weight: 82, reason: 'prove summary' });
  } else if (/^Result: FAIL/.test(text)) found.blocks.push({ start: line, end: line, weight: 50, reason: 'prove result' });
}

/** `#   Failed test 'adds up'`, with the place on the same line or the next, and what was got and expected below. */
function readCheck(log: LogText, line: number, text: string, list: TestList, named: Set<string>): void {
  const end = blockEnd(log, line, 8, (next) => /^\s{0,12}#\s{2,}/.test(next) && !FAILED.test(next.trimEnd()));
  const body = linesBetween(log, line + 1, end).map((one) => one.trimEnd());
  const check = FAILED.exec(text)?.groups;
  const place = check?.file === undefined ? body.map((one) => PLACE.exec(one)?.groups).find((one) => one !== undefined) : check;
  const value = (label: string) =>
    body.map((one) => new RegExp(`^\\s{0,12}#\\s{1,20}${label}: (.{1,300})$`).exec(one)?.[1]).find((one) => one !== undefined) ?? null;
  const name = check?.quoted ?? check?.bare;
  if (place?.file === undefined || name === undefined) return;
  named.add(place.file);
  const values = { expected: value('expected'), actual: value('got') };
  const message =
    values.actual === null
      ? (body.find((one) => !PLACE.test(one))?.replace(/^\s{0,12}#\s{0,20}/, '') ?? null)
      : `got: ${values.actual} expected: ${values.expected}`;
  list.add({ name, suite: place.file, file: place.file, line: Number(place.line), message, ...values }, line, end);
}
