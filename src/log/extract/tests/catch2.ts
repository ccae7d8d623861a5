import type { LogText } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, lookBack, openTestList } from './test-list.ts';

const FAILED = /^(?<file>[^\s:(]{1,300})[:(](?<line>\d{1,7})\)?: FAILED:$/;
const RULE = /^-{60,100}$/;
const END = /^(?:-{60,100}|={60,100}|\.{60,100})$/;

/** Catch2: a heading between rules names the test case and its sections; below it each assertion that failed. */
export const catch2: Extractor = {
  name: 'catch2',
  literals: [': FAILED:'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'catch2');
    for (const line of lines) {
      const place = FAILED.exec(log.line(line).trimEnd())?.groups;
      const name = place === undefined ? null : nameAbove(log, line);
      if (place === undefined || name === null) continue;
      const end = blockEnd(log, line, 40, (text) => !END.test(text) && !FAILED.test(text.trimEnd()));
      const expansion = /with expansion:\n\s{1,8}(?<actual>.{1,300}?) == (?<expected>.{1,300})/.exec(
        linesBetween(log, line, end).join('\n'),
      );
      const values = { expected: expansion?.groups?.expected?.trim() ?? null, actual: expansion?.groups?.actual?.trim() ?? null };
      const thrown = /^due to /.test(log.line(line + 1)) ? log.line(line + 2).trim() || null : null;
      list.add({ name, file: place.file ?? null, line: Number(place.line), message: thrown, ...values }, line, end);
    }
  },
};

/** Test case and sections, joined as Catch2's JUnit reporter does. */
function nameAbove(log: LogText, line: number): string | null {
  const bottom = lookBack(log, line, 200, (text) => (RULE.test(text) ? true : null));
  const top = bottom === null ? null : lookBack(log, bottom.line, 20, (text) => (RULE.test(text) ? true : null));
  if (bottom === null || top === null) return null;
  const path = linesBetween(log, top.line + 1, bottom.line - 1).map((text) => text.trim());
  return path.join('/') || null;
}
