import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const FAIL = /^(?:FAIL! {2}|XPASS {2}|QFATAL) ?: (?<suite>\w[\w:]{0,200})::(?<name>\w{1,200}\([^()\n]{0,200}\)) (?<message>.{0,500})$/;
const LOC = /^\s{0,8}Loc: \[(?<file>[^\n]{1,300})\((?<line>\d{1,7})\)\]/;

/** QtTest: `FAIL!  : TestCart::addsUp() …`, the two values, and `Loc: [file(line)]`. */
export const qtTest: Extractor = {
  name: 'qttest',
  literals: ['FAIL!  : ', 'XPASS  : ', 'QFATAL : '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'qttest');
    for (const line of lines) {
      const test = FAIL.exec(log.line(line).trimEnd())?.groups;
      if (test?.name === undefined) continue;
      const end = blockEnd(log, line, 8, (text) => /^\s{2,8}(?:Actual|Expected|Loc:)/.test(text));
      const body = linesBetween(log, line + 1, end);
      const value = (label: string) =>
        body
          .find((text) => text.trimStart().startsWith(label))
          ?.replace(/^.{0,300}?\)\s{0,80}: /, '')
          .trim() ?? null;
      const place = body.map((text) => LOC.exec(text)?.groups).find((one) => one !== undefined);
      const at = { file: place?.file ?? null, line: place?.line === undefined ? null : Number(place.line) };
      const known = { message: test.message?.trim() || null, expected: value('Expected'), actual: value('Actual') };
      list.add({ name: test.name, suite: test.suite ?? null, ...at, ...known }, line, end);
    }
  },
};
