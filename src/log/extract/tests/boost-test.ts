import type { Extractor } from '../extraction.ts';
import { openTestList } from './test-list.ts';

const ERROR =
  /^(?<file>[^\s:(]{1,300}|unknown location)[:(](?<line>\d{1,7})\)?: (?:fatal )?error:? in "(?<path>[^"\n]{1,300})": (?<message>.{1,1000})$/;

/** Boost.Test: `file(12): error: in "suite/name": check a == b has failed [1 != 2]`. */
export const boostTest: Extractor = {
  name: 'boost-test',
  literals: ['error: in "', 'error in "'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'boost-test');
    for (const line of lines) {
      const error = ERROR.exec(log.line(line).trimEnd())?.groups;
      if (error?.path === undefined) continue;
      const parts = error.path.split('/');
      const values = / has failed \[(?<actual>.{1,250}) != (?<expected>.{1,250})\]/.exec(error.message ?? '')?.groups;
      const place = error.file === 'unknown location' ? {} : { file: error.file ?? null, line: Number(error.line) };
      list.add(
        {
          name: parts.at(-1) ?? '',
          suite: parts.slice(0, -1).join('/') || null,
          ...place,
          message: error.message ?? null,
          expected: values?.expected ?? null,
          actual: values?.actual ?? null,
        },
        line,
        line,
      );
      found.blocks.push({ start: line, end: line, weight: 89, reason: 'boost-test failure' });
    }
  },
};
