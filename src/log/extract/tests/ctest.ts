import type { Extractor } from '../extraction.ts';
import { openTestList } from './test-list.ts';

const INLINE = /^\s{0,4}\d{1,5}\/\d{1,5} Test {1,4}#\d{1,5}: (?<name>\S{1,200}) \.{2,80}\s?\*{3}(?<what>Failed|Timeout|Exception|Not Run)/;
const LISTED =
  /^\t\s{0,8}\d{1,6} - (?<name>\S{1,200}) \((?<what>Failed|Timeout|SEGFAULT|Child aborted|Not Run|ILLEGAL|NUMERICAL|OTHER_FAULT|BAD_COMMAND|Subprocess \w{1,30}|Subprocess killed)\)/;

/** CMake's ctest: the line of each test that did not pass, and the list at the end. */
export const ctest: Extractor = {
  name: 'ctest',
  literals: [
    '***Failed',
    '***Timeout',
    '***Exception',
    '***Not Run',
    '(Failed)',
    '(Timeout)',
    '(SEGFAULT)',
    '(Child aborted)',
    '(Not Run)',
  ],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'ctest');
    const known = new Set(found.failingTests.flatMap(({ framework, suite, name }) => (framework === 'gtest' ? [`${suite}.${name}`] : [])));
    for (const line of lines) {
      const text = log.line(line);
      const test = (INLINE.exec(text) ?? LISTED.exec(text))?.groups;
      if (test?.name === undefined || known.has(test.name)) continue;
      const what = test.what ?? 'Failed';
      list.add({ name: test.name, message: what === 'Failed' ? null : what }, line, line);
    }
  },
};
