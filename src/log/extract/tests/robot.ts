import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, lookBack, openTestList } from './test-list.ts';

const FAIL = /^(?<name>\S.{0,300}?)\s{1,100}\| FAIL \|$/;
const RULE = /^(?:-{60,120}|={60,120})$/;

/** Robot Framework: `Name … | FAIL |` with the message below; a suite's own line, which ends with its counts, is none. */
export const robot: Extractor = {
  name: 'robot',
  literals: ['| FAIL |'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'robot');
    for (const line of lines) {
      const name = FAIL.exec(log.line(line).trimEnd())
        ?.groups?.name?.replace(/ :: .{0,300}$/, '')
        .trim();
      if (name === undefined) continue;
      const end = blockEnd(log, line, 60, (text) => !RULE.test(text.trimEnd()));
      const body = linesBetween(log, line + 1, end);
      if (body.some((text) => /^\d{1,7} tests?, \d{1,7} passed, \d{1,7} failed/.test(text))) continue;
      const values = /^(?<actual>.{1,300}?)(?: \([\w ]{1,20}\))? != (?<expected>.{1,300}?)(?: \([\w ]{1,20}\))?$/.exec(
        body[0] ?? '',
      )?.groups;
      const suite = lookBack(log, line, 400, (text) => (/^={60,120}$/.test(text.trimEnd()) ? true : null))?.line;
      const heading =
        suite === undefined
          ? null
          : log
              .line(suite - 1)
              .replace(/ :: .{0,300}$/, '')
              .trim();
      const known = { suite: heading || null, expected: values?.expected ?? null, actual: values?.actual?.split(': ').at(-1) ?? null };
      list.add({ name, ...known }, line, end);
    }
  },
};
