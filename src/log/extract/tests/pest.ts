import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const TITLE = /^\s{2,4}(?:FAILED|•)\s{1,4}(?<suite>[\w\\]{2,300}) > (?<name>\S.{0,300}?)(?:\s{3,200}\w{1,100})?$/;
const PLACE = /^\s{1,4}at (?<file>[^\s:]{1,300}\.php):(?<line>\d{1,7})/;

/** Pest and Laravel's test command: `FAILED  Tests\Unit\CartTest > it adds up`. */
export const pest: Extractor = {
  name: 'pest',
  literals: ['  FAILED  ', '  • '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'pest');
    for (const line of lines) {
      const title = TITLE.exec(log.line(line).trimEnd())?.groups;
      if (title?.name === undefined) continue;
      const end = blockEnd(log, line, 60, (text) => !TITLE.test(text.trimEnd()) && !/^\s{2}(?:Tests: |─{20})/.test(text));
      const place = linesBetween(log, line + 1, end)
        .map((text) => PLACE.exec(text)?.groups)
        .find((one) => one !== undefined);
      const at = { file: place?.file ?? null, line: place?.line === undefined ? null : Number(place.line) };
      list.add({ name: title.name, suite: title.suite ?? null, ...at }, line, end);
    }
  },
};
