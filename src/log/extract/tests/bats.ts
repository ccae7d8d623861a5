import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { lookBack, openTestList } from './test-list.ts';

const PLACE =
  /^\s{1,8}\((?:from function .{1,200} in file .{1,300}, line \d{1,7},)?(?:\s{0,4}in test file (?<file>[^\n]{1,300}), line (?<line>\d{1,7}))\)$/;
const FAILED = /^[^✗✖\n]{0,300}[✗✖] (?<name>\S.{0,300}?)(?: \[\d{1,9}(?:ms)?\])?$/;

/** Bats' pretty form: `✗ name`, and below it the line of the test file. Its TAP form is read with TAP. */
export const bats: Extractor = {
  name: 'bats',
  literals: ['in test file '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'bats');
    for (const line of lines) {
      const place = PLACE.exec(log.line(line).trimEnd())?.groups;
      const title = lookBack(log, line, 4, (text) => FAILED.exec(text.trimEnd())?.groups?.name);
      if (place === undefined || title === null) continue;
      const end = blockEnd(log, line, 30, (text) => /^\s{4}/.test(text));
      list.add(
        { name: title.value, file: place.file ?? null, line: Number(place.line), message: log.line(line + 1).trim() || null },
        title.line,
        end,
      );
    }
  },
};
