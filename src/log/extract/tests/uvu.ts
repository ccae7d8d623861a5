import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const FAIL = /^\s{1,4}FAIL\s{1,4}(?:(?<suite>\S.{0,200}?)\s{1,4})?"(?<name>[^"\n]{1,300})"$/;

/** uvu: `FAIL  suite  "name"`. */
export const uvu: Extractor = {
  name: 'uvu',
  literals: [' FAIL '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'uvu');
    for (const line of lines) {
      const test = FAIL.exec(log.line(line).trimEnd())?.groups;
      if (test?.name === undefined) continue;
      const end = blockEnd(log, line, 40, (text) => /^\s{4}|^$/.test(text));
      const body = linesBetween(log, line + 1, end).map((text) => text.trim());
      const values = { expected: side(body, '++'), actual: side(body, '--') };
      list.add({ name: test.name, suite: test.suite?.trim() ?? null, message: body[0] || null, ...values }, line, end);
    }
  },
};

function side(body: readonly string[], sign: string): string | null {
  const text = body.find((one) => one.startsWith(sign));
  return (
    text
      ?.slice(2)
      .replace(/\s{1,20}\((?:Expected|Actual)\)$/, '')
      .replaceAll('·', ' ')
      .trim() ?? null
  );
}
