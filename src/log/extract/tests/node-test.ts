import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const PLACE = /^\s{0,20}test at (?<file>[^\n]{1,300}?):(?<line>\d{1,7}):\d{1,6}$/;
const NAME = /^\s{0,20}✖ (?<name>\S.{0,400}?) \(\d[\d.]{0,16}ms\)$/;

/** node:test's spec reporter: after `failing tests:` each test with its place above its name. Those marked as to do are none. */
export const nodeTest: Extractor = {
  name: 'node-test',
  literals: ['test at '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'node-test');
    for (const line of lines) {
      const place = PLACE.exec(log.line(line).trimEnd())?.groups;
      const name = NAME.exec(log.line(line + 1).trimEnd())?.groups?.name;
      if (place === undefined || name === undefined) continue;
      const end = blockEnd(log, line + 1, 80, (text) => !PLACE.test(text.trimEnd()) && (text.trim() === '' || /^\s/.test(text)));
      const body = linesBetween(log, line + 2, end).map((text) => text.trim());
      const value = (key: string) =>
        body
          .find((text) => text.startsWith(`${key}: `))
          ?.slice(key.length + 2)
          .replace(/,$/, '') ?? null;
      const values = { expected: value('expected'), actual: value('actual') };
      list.add({ name, file: place.file ?? null, line: Number(place.line), message: body[0] || null, ...values }, line + 1, end);
    }
  },
};
