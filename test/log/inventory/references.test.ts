import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourceText } from '../../../src/domain/build.ts';
import { countFileParts, countFolderParts, listReferences } from '../../../src/log/inventory/references.ts';

const log = (text: string): SourceText => ({ name: 'build.log', kind: 'log', text, notes: [] });
const pathsIn = (text: string) => listReferences(log(text)).map(({ path, line }) => [path, line]);

describe('a reference', () => {
  it.each([
    [
      'npm error A complete log of this run can be found in: /root/.npm/_logs/2024-01-05T10_00_00_000Z-debug-0.log',
      'root/.npm/_logs/2024-01-05T10_00_00_000Z-debug-0.log',
    ],
    [
      '[ERROR] Please refer to /ci/shop/target/surefire-reports for the individual test results.',
      'ci/shop/target/surefire-reports',
    ],
    ['See "CMakeFiles/CMakeError.log".', 'CMakeFiles/CMakeError.log'],
    ["configure: error: see `config.log' for more details", 'config.log'],
    [
      '> There were failing tests. See the report at: file:///ci/app/build/reports/tests/test/index.html',
      'ci/app/build/reports/tests/test/index.html',
    ],
    ['Full trace: D:\\a\\shop\\out\\trace.txt', 'a/shop/out/trace.txt'],
    ['Crash report written to /tmp/crash-77.txt.', 'tmp/crash-77.txt'],
    ['For more details see logs/server.log', 'logs/server.log'],
  ])('is read from a line that leads to a file: %s', (line, path) => {
    expect(pathsIn(`start\n${line}\nend`)).toContainEqual([path, 2]);
  });

  it('is read from one of the next lines if there is no path next to the phrase', () => {
    const npm =
      'npm ERR! A complete log of this run can be found in:\nnpm ERR!     /root/.npm/_logs/x-debug-0.log';
    const jvm = '# An error report file with more information is saved as:\n# /ci/hs_err_pid4711.log';

    expect(pathsIn(npm)).toEqual([['root/.npm/_logs/x-debug-0.log', 2]]);
    expect(pathsIn(jvm)).toEqual([['ci/hs_err_pid4711.log', 2]]);
  });

  it('is not a path that is only mentioned, or a web address', () => {
    expect(pathsIn('compiling src/main/java/App.java\nuploading logs/server.log')).toEqual([]);
    expect(pathsIn('see https://example.com/docs/errors.html for help')).toEqual([]);
  });

  it('has a score for how well a path and a file match', () => {
    expect(countFileParts('ci/shop/logs/server.log', 'logs.zip/logs/server.log')).toBe(2);
    expect(countFileParts('ci/shop/logs/server.log', 'server.log')).toBe(1);
    expect(countFileParts('ci/shop/logs/server.log', 'other.log')).toBe(0);
    expect(countFolderParts('ci/shop/target/surefire-reports', 'out/target/surefire-reports/a/A.txt')).toBe(
      2,
    );
    expect(countFolderParts('ci/shop/target/surefire-reports', 'surefire.txt')).toBe(0);
  });

  it('never causes an exception, whatever the text', () => {
    const words = fc.constantFrom(
      'see ',
      'refer to ',
      '/',
      '..',
      'C:\\',
      'a.log',
      '\n',
      '\u001b[31m',
      '"',
      'file://',
      'log:',
    );
    const texts = fc
      .array(fc.oneof(words, fc.string({ unit: 'binary', maxLength: 20 })), { maxLength: 60 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        const count = text.split('\n').length;
        for (const { line, path } of listReferences(log(text))) {
          expect(line).toBeGreaterThanOrEqual(1);
          expect(line).toBeLessThanOrEqual(count);
          expect(path.length).toBeLessThanOrEqual(500);
        }
      }),
    );
  });
});
