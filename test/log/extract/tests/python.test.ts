import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTests } from './read-tests.ts';

describe('pytest', () => {
  it('combines workers, sections and summary, without the output of passed tests and expected failures', () => {
    const tests = readTests(`
      [gw0] [ 33%] FAILED test_cart.py::T::test_adds
      [gw0] [ 66%] SUBFAILED(i='0') test_cart.py::T::test_sub
      [gw1] [100%] XFAIL test_cart.py::T::test_known

      =================================== FAILURES ===================================
      _________________________________ T.test_adds __________________________________
      [gw0] linux -- Python 3.11.7 /usr/bin/python3

      >   def test_adds(self): self.assertEqual(2, 3)
      E   AssertionError: 2 != 3

      test_cart.py:3: AssertionError
      ______________________________ T.test_sub (i='0') ______________________________

      >           with self.subTest(i=i): self.assertEqual(i, 1)
      E           AssertionError: 0 != 1

      test_cart.py:6: AssertionError
      ==================================== PASSES ====================================
      __________________________________ T.test_fine __________________________________
      ----------------------------- Captured stdout call -----------------------------
      hello
      =========================== short test summary info ============================
      PASSED test_cart.py::T::test_fine
      XFAIL test_cart.py::T::test_known
      XPASS test_cart.py::T::test_other
      FAILED test_cart.py::T::test_adds - AssertionError: 2 != 3
      SUBFAILED(i='0') test_cart.py::T::test_sub - AssertionError: 0 != 1
      ========== 2 failed, 1 passed, 1 xfailed in 0.68s ===========`);
    expect(tests).toMatchObject([
      { name: 'test_adds', suite: 'T', file: 'test_cart.py', line: 3, expected: '3', actual: '2' },
      { name: 'test_sub', suite: 'T', message: 'AssertionError: 0 != 1' },
    ]);
    expect(tests).toHaveLength(2);
  });
});

describe("Python's doctest", () => {
  it('names each example that fails, with its place and both values', () => {
    const log = readFileSync(
      join(import.meta.dirname, '../../../fixtures/tools/doctest-two-examples/log.txt'),
      'utf8',
    );

    expect(readTests(log)).toMatchObject([
      { name: 'tides.name', line: 15, expected: "'Lee Harbor'", actual: "'Lee harbor'" },
      { name: 'tides.turn', line: 4, expected: '5', actual: '4' },
    ]);
  });
});

describe('unittest and similar runners', () => {
  it('name a test once, even if several environments of tox run it', () => {
    const run = `
      ======================================================================
      FAIL: test_adds (test_cart.T)
      ----------------------------------------------------------------------
      Traceback (most recent call last):
        File "/app/test_cart.py", line 3, in test_adds
      AssertionError: 2 != 3

      ----------------------------------------------------------------------
      Ran 3 tests in 0.001s

      FAILED (failures=1, expected failures=1)
      ERROR: InvocationError for command /app/.tox/py27/bin/nosetests (exited with code 1)`;
    expect(readTests(run + run)).toMatchObject([{ name: 'test_adds', suite: 'test_cart.T' }]);
    expect(readTests(run + run)).toHaveLength(1);
  });

  it("include Twisted's trial", () => {
    const rule = '='.repeat(79);
    const tests = readTests(`
      ${rule}
      [FAIL]
      Traceback (most recent call last):
        File "/app/test_cart.py", line 3, in test_adds
          self.assertEqual(2, 3)
      twisted.trial.unittest.FailTest: not equal:
      a = 2
      b = 3

      shop.test_cart.CartTest.test_adds
      -------------------------------------------------------------------------------
      Ran 1 tests in 0.011s`);
    expect(tests).toMatchObject([
      { name: 'test_adds', suite: 'shop.test_cart.CartTest', framework: 'trial' },
    ]);
  });

  it('include stestr', () => {
    const tests = readTests(
      '{0} shop.tests.CartTest.test_adds [0.10s] ... FAILED\n{1} shop.tests.CartTest.test_ok [0.10s] ... ok',
    );
    expect(tests).toMatchObject([{ name: 'test_adds', suite: 'shop.tests.CartTest' }]);
  });
});

describe('behave and cucumber', () => {
  it('are read from the list of scenarios, with the output of each', () => {
    const tests = readTests(`
      Feature: Cart # features/cart.feature:1

        Scenario: Adds up     # features/cart.feature:2
          Given a cart        # features/steps/s.py:2
          Then the total is 3 # features/steps/s.py:4
            ASSERT FAILED: 2 != 3

        Scenario: Is there  # features/cart.feature:5
          Given a cart      # features/steps/s.py:2

      Failing scenarios:
        features/cart.feature:2  Adds up

      0 features passed, 1 failed, 0 skipped`);
    expect(tests).toMatchObject([
      { name: 'Adds up', file: 'features/cart.feature', line: 2, message: '2 != 3' },
    ]);
    expect(tests).toHaveLength(1);
    expect(
      readTests('Failing Scenarios:\ncucumber features/cart.feature:6 # Scenario: Adds up\n'),
    ).toMatchObject([{ name: 'Adds up', line: 6 }]);
  });
});

describe('Robot Framework', () => {
  it('names tests, not suites', () => {
    const rule = '='.repeat(78);
    const line = '-'.repeat(78);
    const tests = readTests(`
      ${rule}
      Cart
      ${rule}
      Adds Up :: The sum                                                    | FAIL |
      2 != 3
      ${line}
      Is There                                                              | PASS |
      ${line}
      Later                                                                 | SKIP |
      not now
      ${line}
      Cart                                                                  | FAIL |
      3 tests, 1 passed, 1 failed, 1 skipped
      ${rule}`);
    expect(tests).toMatchObject([
      { name: 'Adds Up', suite: 'Cart', message: '2 != 3', expected: '3', actual: '2' },
    ]);
    expect(tests).toHaveLength(1);
  });
});
