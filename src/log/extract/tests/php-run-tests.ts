import type { LogText } from '../../lines/lines.ts';
import type { Block, Extractor } from '../extraction.ts';
import { openTestList } from './test-list.ts';

const FAIL = /^FAIL (?<name>.{1,300}) \[(?<file>\S{1,300}\.phpt)\]/;

/** PHP's own run-tests.php: `FAIL name [file.phpt]`, with the difference above it. */
export const phpRunTests: Extractor = {
  name: 'php-run-tests',
  literals: ['.phpt]'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'php-run-tests');
    for (const line of lines) {
      const test = FAIL.exec(log.line(line))?.groups;
      if (test?.name === undefined) continue;
      found.blocks.push(differenceAbove(log, line, found.failingTests.length));
      list.add({ name: test.name, file: test.file ?? null }, line, line);
    }
  },
};

function differenceAbove(log: LogText, line: number, nth: number): Block {
  let start = line;
  while (start > Math.max(1, line - 150) && !log.line(start).startsWith('========DIFF')) start--;
  const isShown = log.line(start).startsWith('========DIFF');
  return { start: isShown ? start : line, end: line, weight: 88 - Math.min(nth, 30) * 0.4, reason: 'php-run-tests failure' };
}
