import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const TITLE = /^TEST CASE:\s{1,4}(?<name>\S.{0,300})$/;
const ERROR = /^(?<file>[^\s:(]{1,300})[:(](?<line>\d{1,7})\)?: (?:FATAL )?ERROR: (?<message>.{1,500})$/;

/** doctest (C++): `TEST CASE:  name`, its subcases, and the checks that are not correct. A case that may fail is none. */
export const doctest: Extractor = {
  name: 'doctest',
  literals: ['TEST CASE:  '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'doctest');
    for (const line of lines) {
      const name = TITLE.exec(log.line(line).trimEnd())?.groups?.name;
      const end = blockEnd(log, line, 100, (text) => !/^={60,100}$/.test(text));
      const body = linesBetween(log, line + 1, end);
      const error = body.map((text) => ERROR.exec(text.trimEnd())?.groups).find((one) => one !== undefined);
      if (
        name === undefined ||
        error === undefined ||
        body.some((text) => /^(?:Allowed to fail|Failed as expected|Should have failed)/.test(text))
      )
        continue;
      const values = /values: \w{1,40}\( (?<actual>.{1,200}?) == (?<expected>.{1,200}) \)/.exec(body.join('\n'))?.groups;
      const known = { message: error.message ?? null, expected: values?.expected ?? null, actual: values?.actual ?? null };
      list.add({ name, file: error.file ?? null, line: Number(error.line), ...known }, line, end);
    }
  },
};
