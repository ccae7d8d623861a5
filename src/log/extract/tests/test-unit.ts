import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const TITLE = /^(?:Failure|Error): (?<name>test[^()\n]{0,300}?)\((?<suite>[\w:]{1,200})\)(?:: ?(?<message>.{0,500}))?:?$/;
const PLACE = /^(?<file>[^\s:]{1,300}\.rb):(?<line>\d{1,7}):in /;

/** Ruby's test-unit: `Failure: test_adds(CartTest)` under a rule of equals signs. */
export const testUnit: Extractor = {
  name: 'test-unit',
  literals: ['Failure: test', 'Error: test'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'test-unit');
    for (const line of lines) {
      const title = TITLE.exec(log.line(line).trimEnd())?.groups;
      if (title?.name === undefined || !/^={20,200}$/.test(log.line(line - 1))) continue;
      const end = blockEnd(log, line, 60, (text) => !/^={20,200}$/.test(text));
      const body = linesBetween(log, line + 1, end);
      const place = body.map((text) => PLACE.exec(text)?.groups).find((one) => one !== undefined);
      const said = body.filter((text) => !/^\s{1,8}(?:=> )?\s{0,4}\d{1,6}: |^\S{1,300}\.rb:\d/.test(text)).map((text) => text.trim());
      list.add(
        {
          name: title.name,
          suite: title.suite ?? null,
          file: place?.file ?? null,
          line: place?.line === undefined ? null : Number(place.line),
          message:
            title.message ||
            said
              .filter((text) => text !== '')
              .slice(0, 2)
              .join(' ') ||
            null,
          ...differenceOf(said.join('\n')),
        },
        line,
        end,
      );
    }
  },
};

function differenceOf(text: string): { expected: string | null; actual: string | null } {
  const groups = /<(?<expected>[^\n]{0,300})> expected but was\n<(?<actual>[^\n]{0,300})>/.exec(text)?.groups;
  return { expected: groups?.expected ?? null, actual: groups?.actual ?? null };
}
