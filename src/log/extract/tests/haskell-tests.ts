import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, lookBack, openTestList } from './test-list.ts';

const HSPEC_ITEM = /^\s{2,4}\d{1,5}\) (?<name>\S.{0,400})$/;
const HSPEC_PLACE = /^\s{2}(?<file>[^\s:]{1,300}\.l?hs):(?<line>\d{1,7}):\d{1,6}:\s{0,4}$/;
const TASTY_ITEM = /^\s{0,60}(?<name>\S.{0,300}?):\s{1,200}FAIL(?: \(\d.{0,20}s\))?$/;
const TASTY_PLACE = /^\s{2,80}(?<file>[^\s:]{1,300}\.l?hs):(?<line>\d{1,7}):/;

/** Haskell's Hspec and Tasty, told by how each says to run the test again. */
export const haskellTests: Extractor = {
  name: 'haskell-tests',
  literals: ['To rerun use: --match', 'to rerun this test only'],
  extract: (log, lines, found) => {
    const hspec = openTestList(log, found, 'hspec');
    const tasty = openTestList(log, found, 'tasty');
    for (const line of lines) {
      const isHspec = log.line(line).includes('--match');
      const pattern = isHspec ? HSPEC_ITEM : TASTY_ITEM;
      const item = lookBack(log, line, 60, (text) => pattern.exec(text.trimEnd())?.groups?.name);
      if (item === null) continue;
      const body = linesBetween(log, item.line + 1, line - 1);
      const places = isHspec ? [log.line(item.line - 1)] : body;
      const place = places.map((text) => (isHspec ? HSPEC_PLACE : TASTY_PLACE).exec(text)?.groups).find((one) => one !== undefined);
      const message = body.find((text) => text.trim() !== '' && !TASTY_PLACE.test(text))?.trim() ?? null;
      const at = { file: place?.file ?? null, line: place?.line === undefined ? null : Number(place.line) };
      const end = blockEnd(log, line, 0, () => false);
      (isHspec ? hspec : tasty).add({ name: item.value, ...at, message }, item.line, end);
    }
  },
};
