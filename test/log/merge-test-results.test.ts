import { describe, expect, it } from 'vitest';
import type { FailingTest } from '../../src/domain/failure.ts';
import { mergeTests } from '../../src/log/merge-test-results.ts';

const unknown = { file: null, line: null, message: null, expected: null, actual: null };
const reported = (suite: string | null, name: string, more: Partial<FailingTest> = {}): FailingTest => ({
  ...unknown,
  suite,
  name,
  message: 'expected 1 but was 2',
  framework: 'junit-xml',
  at: { source: 'report.xml', line: 3 },
  ...more,
});
const logged = (suite: string | null, name: string, more: Partial<FailingTest> = {}): FailingTest => ({
  ...unknown,
  suite,
  name,
  framework: 'any',
  at: { source: 'build.log', line: 40 },
  ...more,
});

describe('merging test results', () => {
  it.each([
    [
      'vitest',
      ['test/receipt.test.ts', 'renderReceipt > prints a whole receipt'],
      ['renderReceipt', 'prints a whole receipt'],
    ],
    ['jest-junit', ['cart rounds to the cent', 'cart rounds to the cent'], ['cart', 'rounds to the cent']],
    [
      'mocha',
      ['sends the digest', 'Queue when idle sends the digest'],
      ['Queue when idle', 'sends the digest'],
    ],
    ['pytest, a function', ['tests.test_x', 'test_b[1-2]'], [null, 'test_b[1-2]']],
    ['pytest, a class', ['tests.test_x.TestA', 'test_b'], ['TestA', 'test_b']],
    ['pytest, a module that does not load', ['', 'tests.test_x'], [null, 'tests/test_x.py']],
    ['surefire', ['org.example.TaxTest', 'rounds'], ['TaxTest', 'rounds']],
    [
      'surefire, with parameters',
      ['org.example.TaxTest', 'adds(int, int)[1]'],
      ['org.example.TaxTest', 'adds{int, int}[1]'],
    ],
    ['go', ['example.test/slug', 'TestTitles/brulee'], [null, 'TestTitles/brulee']],
    ['nextest', ['parcels::tests', 'tests::is_small'], [null, 'tests::is_small']],
  ] as const)('recognizes one test under both names: %s', (_, [suite, name], [logSuite, logName]) => {
    const merged = mergeTests(
      [reported(suite, name)],
      [logged(logSuite, logName, { file: 'a.ts', line: 7 })],
    );
    expect(merged).toHaveLength(1);
    expect(merged[0]).toMatchObject({
      suite,
      name,
      message: 'expected 1 but was 2',
      file: 'a.ts',
      line: 7,
      at: { source: 'build.log' },
    });
  });

  it.each([
    ['another name', ['tests.test_x', 'test_b'], [null, 'test_bb']],
    ['another parameter', ['tests.test_x', 'test_b[1]'], [null, 'test_b[2]']],
    ['another class', ['tests.test_x.TestA', 'test_b'], ['TestB', 'test_b']],
  ] as const)('keeps tests apart with %s', (_, [suite, name], [logSuite, logName]) => {
    expect(mergeTests([reported(suite, name)], [logged(logSuite, logName)])).toHaveLength(2);
  });

  it('distinguishes the same name in two files by the file', () => {
    const merged = mergeTests(
      [reported('tests.test_b', 'test_it'), reported('tests.test_a', 'test_it')],
      [
        logged(null, 'test_it', { file: 'tests/test_a.py', line: 1 }),
        logged(null, 'test_it ', { file: 'tests/test_b.py', line: 2 }),
      ],
    );
    expect(merged.map(({ suite, line }) => [suite, line])).toEqual([
      ['tests.test_b', 2],
      ['tests.test_a', 1],
    ]);
  });

  it('keeps the text of the log if the report has no useful one', () => {
    const [merged] = mergeTests(
      [reported('s', 'x', { message: 'AssertionError' })],
      [logged('s', 'x', { message: 'expected a, got b' })],
    );
    expect(merged?.message).toBe('expected a, got b');
  });

  it('drops a parent test that failed because of its case', () => {
    expect(
      mergeTests([reported('p', 'TestA'), reported('p', 'TestA/case')], []).map(({ name }) => name),
    ).toEqual(['TestA/case']);
  });
});
