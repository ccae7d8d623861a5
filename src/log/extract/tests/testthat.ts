import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { openTestList } from './test-list.ts';

const NEW =
  /^\W{1,8}(?:Failure|Error) \('?(?<file>[^\s:'()]{1,300}\.[Rr]):(?<line>\d{1,7})(?::\d{1,6})?'?\): (?<name>\S.{0,300}?)(?:\s{0,2}[─-]{1,200})?$/;
const OLD = /^\W{1,8}\d{1,5}\. (?:Failure|Error): (?<name>\S.{0,300}?) \(@(?<file>[^\s#()]{1,300}\.[Rr])#(?<line>\d{1,7})\)/;
const ANY = /^(?:──|--|══|==|\[ FAIL)/;

/** R's testthat, alone and in R CMD check: `── Failure ('test-cart.R:3:3'): adds up ──`. Warnings and skips are none. */
export const testthat: Extractor = {
  name: 'testthat',
  literals: ['Failure (', ' Error (', '. Failure: ', '. Error: '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'testthat');
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const test = (NEW.exec(text) ?? OLD.exec(text))?.groups;
      if (test?.name === undefined) continue;
      const end = blockEnd(log, line, 40, (next) => !ANY.test(next.trimStart()));
      list.add({ name: test.name, file: test.file ?? null, line: Number(test.line) }, line, end);
    }
  },
};
