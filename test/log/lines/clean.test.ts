import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLine, stripEscapes, stripPrefixes } from '../../../src/log/lines/clean.ts';
import { MAX_RAW, openText } from '../../../src/log/lines/lines.ts';

describe('stripEscapes', () => {
  it.each([
    ['colours', '\u001b[1;31merror\u001b[0m: x', 'error: x'],
    ['an OSC 8 link', '\u001b]8;;https://example.test\u0007text\u001b]8;;\u0007', 'text'],
    ['cursor moves', '\u001b[2K\u001b[1Gdone', 'done'],
    ["Buildkite's time", '\u001b_bk;t=1700000000000\u0007--- FAIL: TestPear', '--- FAIL: TestPear'],
    ['a window title ended by ST', '\u001b]0;title\u001b\\text', 'text'],
  ])('removes %s', (_, text, plain) => {
    expect(stripEscapes(text)).toBe(plain);
  });

  it('keeps the number of lines of any text', () => {
    const piece = fc.constantFrom(
      '\u001b',
      '\u001b[',
      '\u001b]',
      '\u001b_',
      '31m',
      '\n',
      '\r',
      'x',
      '\u0007',
      ';',
    );
    fc.assert(
      fc.property(
        fc.array(piece).map((all) => all.join('')),
        (text) => stripEscapes(text).split('\n').length === text.split('\n').length,
      ),
    );
  });
});

describe('cleanLine', () => {
  it.each([
    ['GitHub', '2024-07-16T20:33:32.4841352Z ##[error]x', '##[error]x'],
    ['GitHub download', 'build\tRun tests\t2021-12-01T13:01:04.3807878Z FAILED', 'FAILED'],
    ['GitLab', '2024-07-16T20:33:32.484135Z 01O hello', 'hello'],
    ['Jenkins', '[2024-07-16T20:33:32.484Z] + make', '+ make'],
    ['a bracketed clock', '[12:30:01] starting', 'starting'],
    [
      'a test harness',
      '[task 2025-02-13T21:24:26.555Z] 21:24:26     INFO - TEST-UNEXPECTED-FAIL | a | b',
      'TEST-UNEXPECTED-FAIL | a | b',
    ],
    ['Buildkite, its escape lost', '_bk;t=1700000000000\u0007--- FAIL: TestPear', '--- FAIL: TestPear'],
    [
      'a finding of a problem matcher',
      '2024-07-16T20:33:32.4841352Z ##[error]    cart_test.go:12: got 3',
      '    cart_test.go:12: got 3',
    ],
    ['BuildKit', '#8 0.345 npm error code ERESOLVE', 'npm error code ERESOLVE'],
    ['BuildKit (tens)', '#12 12.34     at weigh (scales.js:4:9)', '    at weigh (scales.js:4:9)'],
    ['BuildKit (hundreds)', '#8 123.4 done', 'done'],
    ['BuildKit (thousands)', '#8 1234. done', 'done'],
    [
      'BuildKit, the failed step again',
      '12.34 src/scales.ts:4:9 - error TS2322: pear',
      'src/scales.ts:4:9 - error TS2322: pear',
    ],
    [
      'BuildKit, a frame again',
      '1.234   File "scales.py", line 4, in weigh',
      '  File "scales.py", line 4, in weigh',
    ],
    ['BuildKit, a script again', '0.345 > scales@1.0.0 test', '> scales@1.0.0 test'],
    ['TeamCity', '[12:34:56]E:\t [Step 1/3] expected 3', 'expected 3'],
    ['TeamCity, no status', '[12:34:56] :\t [Step 1/3] ##teamcity[x]', '##teamcity[x]'],
    ['CodeBuild', '[Container] 2024/01/01 12:00:00 Running command npm test', 'Running command npm test'],
    [
      'CodeBuild, with parts of a second',
      '[Container] 2024/01/01 12:00:00.123456 Phase complete',
      'Phase complete',
    ],
    ['Cloud Build', 'Step #3 - "test": npm error code ERESOLVE', 'npm error code ERESOLVE'],
    ['Cloud Build, no name', 'Step #3: bad', 'bad'],
    ['Cloud Build around BuildKit', 'Step #3 - "build": #8 12.34 bad', 'bad'],
    ['docker-compose', 'web_1  | Traceback (most recent call last):', 'Traceback (most recent call last):'],
    ['docker compose', 'shop-web-1       |   File "a.py", line 4, in b', '  File "a.py", line 4, in b'],
    ['docker compose, nothing said', 'web-1  |', ''],
    ['Woodpecker', '[test:L12:3s] --- FAIL: TestPear', '--- FAIL: TestPear'],
    ['Tekton', '[build : unit-test] BUILD FAILURE', 'BUILD FAILURE'],
    ['kubectl', '[pod/web-5d/app] panic: pear', 'panic: pear'],
    ['GitHub around BuildKit', '2024-07-16T20:33:32.4841352Z #8 12.34 bad', 'bad'],
  ])("drops %s's prefix", (_, line, clean) => {
    expect(cleanLine(line)).toBe(clean);
  });

  it('keeps the text after the last carriage return', () => {
    expect(cleanLine('  1%\r 50%\r100% done\r')).toBe('100% done');
  });

  it.each([
    '  at a (b.js:1:2)',
    '#8 ERROR: process "/bin/sh -c npm test" did not complete successfully: exit code: 1',
    '#0 0x0000 in weigh scales.c:4',
    '#8 12.345 kilograms',
    '12.34 ms',
    '0.123 > 0.05',
    '1.500 + 2.500',
    '12.34 56.78 90.12',
    '0.123 errors a run',
    '3.142 is no time',
    '2024. Error: x and a year',
    'Step #3 failed',
    'Starting Step #1 - "test"',
    'Step 3/7 : RUN npm test',
    'web-1 | one space',
    'scales.ts  |   85.71 | 4-9',
    '[ERROR] pear',
    '[1/4] Resolving packages',
    '[pear : ',
    '[info] scales: 4 tests',
  ])('does not change %s', (line) => {
    expect(cleanLine(line)).toBe(line);
  });
});

describe('ownWords', () => {
  it.each([
    ['a time stamp', '2026-01-05T12:50:11.3244800Z FAILED tests/a.py', 'FAILED tests/a.py'],
    ['columns of a download', 'test\tRun pytest\t2026-01-05T12:50:11.3244800Z E  assert 1', 'E  assert 1'],
    ['what was overwritten, and the end of a Windows line', ' 10%\r 90%\rdone\r', 'done'],
    ['nothing, where the line says nothing else', '12:30 is no time stamp', '12:30 is no time stamp'],
  ])('omits %s', (_, stored, own) => {
    expect(stripPrefixes(stored)).toBe(own);
  });

  it('keeps escapes within the words, so that they occur in the stored line', () => {
    const stored = '\u001b[36m2026-01-05T12:50:11.3244800Z \u001b[31merror\u001b[0m: x';
    expect(stripPrefixes(stored)).toBe('error\u001b[0m: x');
  });

  it('always occurs in the stored line', () => {
    const piece = fc.constantFrom(
      '\u001b[31m',
      '\u001b',
      '2026-01-05T12:50:11.3244800Z ',
      'job\tstep\t',
      '\r',
      '##[error] ',
      'x',
      ' ',
      '[12:30:01] ',
    );
    fc.assert(
      fc.property(
        fc.array(piece).map((all) => all.join('')),
        (stored) => stored.includes(stripPrefixes(stored)),
      ),
    );
  });
});

describe('lines of parallel outputs', () => {
  it.each([
    [
      'pnpm',
      'apps/shop test$ vitest run',
      'apps/shop test:  FAIL  src/cart.test.ts > adds',
      ' FAIL  src/cart.test.ts > adds',
    ],
    [
      'Turborepo',
      '@shop/api:test: cache miss, executing 1f2e3d',
      '@shop/api:test: not ok 1 - adds',
      'not ok 1 - adds',
    ],
    ['Yarn', '[@shop/api]: Process started', '[@shop/api]: Tests: 1 failed', 'Tests: 1 failed'],
    ['Jenkins', '[Pipeline] { (Branch: linux)', '[linux] + make', '+ make'],
  ])("have the tool's own text: %s", (_, begun, line, shown) => {
    const log = openText([begun, line, `other ${line}`, line.slice(0, -shown.length).trimEnd()].join('\n'));
    expect([log.line(2), log.line(3), log.line(4)]).toEqual([shown, `other ${line}`, '']);
  });

  it('keep their beginning if no line began with it before', () => {
    expect(openText('apps/shop test: FAIL src/cart.test.ts').line(1)).toBe(
      'apps/shop test: FAIL src/cart.test.ts',
    );
  });
});

describe('a line longer than the reading limit', () => {
  it.each([0, 1, 2, 3, 4])('ends between two characters, %i bytes before the limit', (before) => {
    const line = `${'x'.repeat(MAX_RAW - before)}🚨🚨`;

    const raw = openText(`first\n${line}\nlast`).raw(2);

    expect(line.startsWith(raw)).toBe(true);
    expect(Buffer.byteLength(raw)).toBeGreaterThan(MAX_RAW - 4);
    expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(MAX_RAW);
  });
});
