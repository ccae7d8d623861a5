import { describe, expect, it } from 'vitest';
import { readTests } from './read-tests.ts';

describe('failing tests in a damaged log', () => {
  it('are named if the log ends within their block', () => {
    const tests = readTests(`
      =================================== FAILURES ===================================
      __________________________________ test_rate ___________________________________
      E       assert 2 == 3
      tests/test_tax.py:7: AssertionError
      __________________________________ test_sum ____________________________________

          def test_sum():
      >       assert total() ==`);
    expect(tests.map(({ name }) => name)).toEqual(['test_rate', 'test_sum']);
    expect(tests[1]?.message ?? '').not.toContain('2 == 3');
  });

  it.each([
    [
      'pytest',
      '=================================== FAILURES ===================================\n_________ test_rate _________\nE       assert 2 == 3',
    ],
    ['jest', 'FAIL test/tax.test.js\n  ● tax › test_rate\n\n    Expected: 3\n    Received: 2'],
    ['go', '--- FAIL: test_rate (0.00s)\n    tax_test.go:7: got 2, want 3'],
    [
      'rspec',
      'Failures:\n\n  1) tax test_rate\n     Failure/Error: expect(rate).to eq(3)\n\n       expected: 3\n            got: 2',
    ],
  ])('own a limited number of lines if their block never ends: %s', (_runner, block) => {
    const endless = Array.from({ length: 20_000 }, (_, at) => `  worker ${at % 7} polls the queue`).join(
      '\n',
    );
    const [test, ...more] = readTests(`${block}\n${endless}\n`);
    expect(more).toEqual([]);
    expect(test).toMatchObject({ expected: '3', actual: '2' });
    const owned = test?.spans?.map(({ lineStart, lineEnd }) => lineEnd - lineStart) ?? [];
    expect(Math.max(...owned)).toBeLessThan(1_000);
  });

  it('keep their own output if parallel tests in Go print alternately', () => {
    const tests = readTests(`
      === RUN   TestRate
      === PAUSE TestRate
      === RUN   TestSum
      === PAUSE TestSum
      === CONT  TestRate
      === CONT  TestSum
          tax_test.go:19: got 7, want 8
      === NAME  TestRate
          tax_test.go:9: no rate for FR
      --- FAIL: TestSum (0.00s)
      --- FAIL: TestRate (0.01s)
      FAIL`);
    expect(tests).toMatchObject([
      { name: 'TestSum', line: 19, message: expect.stringContaining('got 7, want 8') },
      { name: 'TestRate', line: 9, message: expect.stringContaining('no rate for FR') },
    ]);
  });

  it('are kept apart if many suites have a test with the same name', () => {
    const suites = Array.from({ length: 50 }, (_, at) => `Shop${at}Test`);
    const lines = suites.map(
      (suite) => `com.example.${suite} > adds() FAILED\n    java.lang.AssertionError: ${suite}`,
    );
    const tests = readTests(lines.join('\n\n'));
    expect(tests).toHaveLength(50);
    expect(tests.every(({ suite, message }) => message?.includes(suite?.split('.').at(-1) ?? '?'))).toBe(
      true,
    );
  });
});
