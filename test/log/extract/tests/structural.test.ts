import { describe, expect, it } from 'vitest';
import { readTests } from './read-tests.ts';

const names = (text: string) => readTests(text).map(({ name }) => name);

describe('a test runner without a reader of its own', () => {
  it.each([
    [
      'trybuild',
      'test tests/ui/cart.rs [should fail to compile] ... mismatch\n\ntest result: FAILED. 1 passed; 1 failed',
      'tests/ui/cart.rs',
    ],
    [
      'Flutter',
      '00:03 +5 -1: adds up [E]\n  Expected: <3>\n  Actual: <2>\n00:04 +5 -1: Some tests failed.',
      'adds up',
    ],
    [
      'Foundry',
      '[FAIL: assertion failed: 2 != 3] testAddsUp() (gas: 8812)\nEncountered a total of 1 failing tests',
      'testAddsUp()',
    ],
    ['bun', '(pass) cart > is there [0.1ms]\n(fail) cart > adds up [1.2ms]\n\n 1 pass\n 1 fail', 'adds up'],
    [
      'Deno',
      'is there ... ok (1ms)\nadds up ... FAILED (3ms)\n\nFAILED | 1 passed | 1 failed (12ms)',
      'adds up',
    ],
    [
      'Zig',
      '1/2 main.test.is there...OK\n2/2 main.test.adds up...FAIL (TestUnexpectedResult)\n1 passed; 0 skipped; 1 failed.',
      'main.test.adds up',
    ],
    [
      'an unknown tree',
      'Cart\n  ✓ is there\n  ✗ adds up\n    expected 3, got 2\n\n2 specs, 1 failed',
      'adds up',
    ],
    [
      'an unknown list',
      '2 tests, 1 failed\n\nFailures:\n\n  1) Cart adds up\n     expected 3, got 2',
      'Cart adds up',
    ],
  ])('is read: %s', (_, log, name) => {
    expect(names(log)).toEqual([name]);
  });

  it('has its suites from the headings of a tree, and its file from the block', () => {
    const tests = readTests(
      'Cart\n  when full\n    ✓ is there\n    ✗ adds up\n      expected 3, got 2\n      at spec/cart.spec.js:4:2\n\n1 failed',
    );
    expect(tests).toMatchObject([
      { name: 'adds up', suite: 'Cart when full', file: 'spec/cart.spec.js', line: 4, framework: 'tests' },
    ]);
  });

  it('reports a file that could not be loaded under its name', () => {
    const log =
      ' FAIL  tests/cart.spec.ts [ tests/cart.spec.ts ]\nError: no such module\n\n Test Files  1 failed (1)';
    expect(readTests(log)).toMatchObject([{ name: 'tests/cart.spec.ts', file: 'tests/cart.spec.ts' }]);
  });

  it.each([
    ['counts', '1 of 10 tests failed\n  ✗ 3 tests failed\n3 specs, 1 failure'],
    ['endings', 'BUILD FAILED in 7m 41s\n> Task :test FAILED\n1 test failed'],
    ['echoes', '+ echo "✗ adds up"\n+ echo FAIL: adds up\n1 test failed'],
    [
      'tests that failed as they should',
      'not ok 1 adds up # TODO later\nXFAIL: adds up\n  ✗ adds up [expected fail]\n1 passed',
    ],
    ['a linter', '✖ 3 problems (2 errors, 1 warning)\n'],
  ])('is not assumed: %s', (_, log) => {
    expect(names(log)).toEqual([]);
  });
});

describe('a line that is not a test', () => {
  it('is a coverage heading between the rules of pytest', () => {
    const tests = readTests(`
      =================================== FAILURES ===================================
      __________________________________ test_rate ___________________________________
      E       assert 2 == 3
      tests/test_tax.py:7: AssertionError
      ================================ tests coverage ================================
      _______________ coverage: platform linux, python 3.11.13-final-0 _______________

      Name     Stmts   Miss  Cover
      =========================== short test summary info ============================
      FAILED tests/test_tax.py::test_rate - assert 2 == 3
      ========================= 1 failed, 1 passed in 0.05s ==========================`);
    expect(tests.map(({ name }) => name)).toEqual(['test_rate']);
  });

  it('is a remark in a list with dots', () => {
    const tests = readTests(`
         • Packages in scope: @shop/api, @shop/web
         • Remote caching disabled
      Tests failed: 2`);
    expect(tests).toEqual([]);
  });
});

describe('test files', () => {
  it('are named from the list of those that failed', () => {
    const tests = readTests(`
      [1/2] tests/limits.test.mjs
      Error: Failed to resolve the path to 'getenv'

      Failed test files:
        - tests/limits.test.mjs (exit 1)
        - see the log above`);
    expect(tests.map(({ name, file }) => [name, file])).toEqual([
      ['tests/limits.test.mjs', 'tests/limits.test.mjs'],
    ]);
  });
});
