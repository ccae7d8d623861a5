import { describe, expect, it } from 'vitest';
import { listFailures } from '../../../src/log/fingerprint/failures.ts';
import { readSources } from '../../../src/log/read-sources.ts';

const read = (...lines: string[]) =>
  readSources([{ name: 'l', kind: 'log', text: lines.join('\n'), notes: [] }], { budgetTokens: 2_000 });
const STAMP = '2026-01-02T03:04:05.1234567Z ';

describe('places', () => {
  it('of rustc are on the line below its message, even after timestamps', () => {
    const lines = [
      'error[E0382]: borrow of moved value: `stops`',
      '  --> src/main.rs:19:34',
      '   |',
      '19 |   stops.len()',
    ];
    expect(read(...lines.map((line) => STAMP + line)).diagnostics).toMatchObject([
      { file: 'src/main.rs', line: 19, column: 34 },
    ]);
  });

  it.each(['Error: ', '##[error]', 'ERROR in ', '[error] '])('of tsc are read after %j', (prefix) => {
    const [found] = read(`${prefix}src/a.ts(3,5): error TS2345: Argument of type 'a'`).diagnostics;
    expect(found).toMatchObject({ tool: 'tsc', file: 'src/a.ts', line: 3 });
  });

  it('of a data race in Go are those of its accesses', () => {
    const reading = read(
      '=== RUN   TestGates',
      '==================',
      'WARNING: DATA RACE',
      'Read at 0x00c000024440 by goroutine 12:',
      '  example.test/visitors.(*Counter).Enter()',
      '      /w/visitors/counter.go:14 +0x9c',
      '  testing.tRunner()',
      '      /usr/local/go/src/testing/testing.go:2036 +0x21c',
      '',
      'Previous write at 0x00c000024440 by goroutine 10:',
      '  example.test/visitors.(*Counter).Enter()',
      '      /w/visitors/counter.go:15 +0xae',
      '==================',
      '    testing.go:1712: race detected during execution of test',
      '--- FAIL: TestGates (0.01s)',
    );
    expect(reading.exceptions).toMatchObject([
      { type: 'DATA RACE', message: expect.stringContaining('a read and a write') },
    ]);
    expect(reading.exceptions[0]?.frames.map(({ function: name, line, own }) => [name, line, own])).toEqual([
      ['(*Counter).Enter', 14, true],
      ['tRunner', 2036, false],
      ['(*Counter).Enter', 15, true],
    ]);
    expect(listFailures(reading)[0]).toMatchObject({
      test: { name: 'TestGates', file: null },
      generic: false,
    });
  });

  it('of a panic in Go are the frames of its goroutine', () => {
    const reading = read(
      'panic: runtime error: index out of range [3] with length 3',
      '',
      'goroutine 7 [running]:',
      'example.test/scales.Weigh(0xc0000140a0, {0x1, 0x2})',
      '\t/w/scales/weigh.go:21 +0x1d',
      'exit status 2',
    );
    expect(reading.exceptions).toMatchObject([
      { type: 'panic', frames: [{ file: '/w/scales/weigh.go', line: 21, function: 'Weigh', own: true }] },
    ]);
  });

  it('of a pytest section are its frames, deepest first', () => {
    const reading = read(
      '=================================== FAILURES ===================================',
      '____________________ test_greets _____________________',
      'tests/test_greeting.py:24: ',
      '>       first_name = profile.name.split()[0]',
      "E       AttributeError: 'NoneType' object has no attribute 'name'",
      'members/greeting.py:3: AttributeError',
      '=========================== short test summary info ============================',
    );
    expect(reading.exceptions).toMatchObject([
      { type: 'AttributeError', frames: [{ file: 'members/greeting.py', line: 3 }, {}] },
    ]);
  });
});

describe('toolchains', () => {
  it('are the tools that ran, with or without errors', () => {
    const { toolchains } = read(
      '$ npm ci',
      'added 3 packages',
      '> jest --ci',
      '+ python3 -m pytest -q',
      '##[group]Run go vet ./...',
      'npm was here',
    );
    expect(toolchains).toEqual(['go', 'jest', 'npm', 'pytest']);
  });
});

describe('failing TAP tests', () => {
  it.each([
    ['a time limit', ['severity: fail', 'exitcode: -15', 'stack: |-', '  timeout'], 'timed out'],
    ['a crash', ['severity: crashed', 'exitcode: -11', 'stack: |-'], 'crashed with exit code -11'],
    [
      'its own complaint',
      ['exitcode: 1', 'stack: |-', '  Mismatched calls. Expected 1, actual 0.'],
      'Mismatched calls. Expected 1, actual 0.',
    ],
    ['nothing', ['exitcode: 1', 'stack: |-'], null],
  ])('state how they ended by %s', (_, yaml, message) => {
    const [test] = read(
      'not ok 3 parallel/test-scale',
      '  ---',
      ...yaml.map((line) => `  ${line}`),
      '  ...',
    ).failingTests;
    expect(test?.message).toBe(message);
  });
});
