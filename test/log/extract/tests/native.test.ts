import { describe, expect, it } from 'vitest';
import { readTests } from './read-tests.ts';

describe('googletest', () => {
  it('is read with the output above its result, once', () => {
    const tests = readTests(`
      [ RUN      ] Cart.Ok
      [       OK ] Cart.Ok (0 ms)
      [ RUN      ] Cart.AddsUp
      g.cpp:2: Failure
      Value of: full()
        Actual: false
      Expected: true
      [  FAILED  ] Cart.AddsUp (0 ms)
      [ RUN      ] All/Rate.IsOne/1
      g.cpp:6: Failure
      Expected equality of these values:
        GetParam()
          Which is: 2
        1
      [  FAILED  ] All/Rate.IsOne/1, where GetParam() = 2 (0 ms)
      [ DISABLED ] Cart.DISABLED_Later
      [  FAILED  ] 2 tests, listed below:
      [  FAILED  ] Cart.AddsUp
      [  FAILED  ] All/Rate.IsOne/1, where GetParam() = 2`);
    expect(tests).toMatchObject([
      { name: 'AddsUp', suite: 'Cart', file: 'g.cpp', line: 2, expected: 'true', actual: 'false' },
      { name: 'IsOne/1', suite: 'All/Rate', file: 'g.cpp', line: 6 },
    ]);
    expect(tests).toHaveLength(2);
  });
});

describe('ctest', () => {
  it('is read from its output and its list, once', () => {
    const tests = readTests(
      `
      1/3 Test #1: reads ............................   Passed    0.01 sec
      2/3 Test #2: skips ............................***Failed    0.01 sec
      3/3 Test #3: waits ............................***Timeout   1.50 sec

      The following tests FAILED:
      \t  2 - skips (Failed)
      \t  3 - waits (Timeout)
      Errors while running CTest`.replaceAll('\\t', '\t'),
    );
    expect(tests).toMatchObject([
      { name: 'skips', message: null },
      { name: 'waits', message: 'Timeout' },
    ]);
    expect(tests).toHaveLength(2);
  });
});

describe('catch2', () => {
  it('is read by the heading between its rules', () => {
    const rule = '-'.repeat(79);
    const tests = readTests(`
      ${rule}
      adds up
        deep
      ${rule}
      c.cpp:7
      ${'.'.repeat(79)}

      c.cpp:7: FAILED:
        CHECK( total == 3 )
      with expansion:
        2 == 3

      ${'='.repeat(79)}
      test cases: 4 | 3 passed | 1 failed`);
    expect(tests).toMatchObject([
      { name: 'adds up/deep', file: 'c.cpp', line: 7, expected: '3', actual: '2', framework: 'catch2' },
    ]);
  });
});

describe('doctest', () => {
  it('excludes test cases that may fail', () => {
    const rule = '='.repeat(79);
    const tests = readTests(`
      ${rule}
      d.cpp:6:
      TEST CASE:  known

      d.cpp:6: ERROR: CHECK( 1 == 2 ) is NOT correct!
        values: CHECK( 1 == 2 )

      Allowed to fail so marking it as not failed
      ${rule}
      d.cpp:7:
      TEST SUITE: s
      TEST CASE:  three

      d.cpp:7: FATAL ERROR: REQUIRE( total == 3 ) is NOT correct!
        values: REQUIRE( 1 == 3 )

      ${rule}`);
    expect(tests).toMatchObject([{ name: 'three', file: 'd.cpp', line: 7, expected: '3', actual: '1' }]);
    expect(tests).toHaveLength(1);
  });
});

describe('Boost.Test and QtTest', () => {
  it('are read from one line and those below', () => {
    expect(
      readTests('b.cpp(4): error: in "cart/adds_up": check total == 3 has failed [2 != 3]'),
    ).toMatchObject([{ name: 'adds_up', suite: 'cart', file: 'b.cpp', line: 4, expected: '3', actual: '2' }]);
    const tests = readTests(`
      PASS   : TestCart::initTestCase()
      FAIL!  : TestCart::addsUp(two items) Compared values are not the same
         Actual   (cart.total()): 2
         Expected (3)           : 3
         Loc: [test_cart.cpp(12)]
      XFAIL  : TestCart::later() known`);
    expect(tests).toMatchObject([
      { name: 'addsUp(two items)', suite: 'TestCart', line: 12, expected: '3', actual: '2' },
    ]);
  });
});

describe('cargo nextest', () => {
  it('counts final failures, not each attempt', () => {
    const tests = readTests(`
              PASS [   0.004s] shop tests::fine
        TRY 1 FAIL [   0.004s] shop tests::flaky
        TRY 2 PASS [   0.004s] shop tests::flaky
              FAIL [   0.003s] shop tests::adds_up
        TRY 1 FAIL [   0.003s] shop tests::broken
        TRY 2 FAIL [   0.003s] shop tests::broken
      ------------
           Summary [   0.010s] 4 tests run: 2 passed (1 flaky), 2 failed, 0 skipped
         FLAKY 2/2 [   0.004s] shop tests::flaky
              FAIL [   0.003s] shop tests::adds_up
        TRY 2 FAIL [   0.003s] shop tests::broken
      error: test run failed`);
    expect(tests.map(({ name }) => name)).toEqual(['tests::adds_up', 'tests::broken']);
  });

  it('contains the compared values that it prints below its result', () => {
    const tests = readTests(`
              FAIL [   0.012s] (2/5) sawmill tests::boards
        stdout ───

          running 1 test
          test tests::boards ... FAILED

        stderr ───

          thread 'tests::boards' (293) panicked at src/lib.rs:30:9:
          assertion \`left == right\` failed
            left: 30
           right: 29
          note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace

              PASS [   0.008s] (3/5) sawmill tests::orders
      ────────────
           Summary [   0.020s] 5 tests run: 4 passed, 1 failed, 0 skipped
              FAIL [   0.012s] (2/5) sawmill tests::boards
      error: test run failed`);
    expect(tests).toMatchObject([
      {
        name: 'tests::boards',
        file: 'src/lib.rs',
        line: 30,
        message: 'assertion `left == right` failed',
        expected: '29',
        actual: '30',
      },
    ]);
  });

  it('names the test that ran when it was stopped, and none if it had ended', () => {
    const lines = ['running 2 tests', 'test slow::all has been running for over 60 seconds'];
    const stopped = "##[error]The action 'Run tests' has timed out after 10 minutes.";
    expect(readTests([...lines, stopped].join('\n'))).toMatchObject([
      { name: 'slow::all', message: 'has been running for over 60 seconds' },
    ]);
    expect(readTests([...lines, 'test slow::all ... ok', stopped].join('\n'))).toEqual([]);
  });
});

describe('go', () => {
  it('names the test that ran at the time limit', () => {
    const tests = readTests(`
      === RUN   TestQuick
      --- PASS: TestQuick (0.00s)
      === RUN   TestSlow
      panic: test timed out after 1s
      running tests:
      	TestSlow (1s)

      goroutine 17 [running]:
      testing.(*M).startAlarm.func1()
      	/usr/local/go/src/testing/testing.go:2373 +0x385
      FAIL	example.test/dam	1.005s
      FAIL`);
    expect(tests).toMatchObject([{ name: 'TestSlow', message: 'test timed out after 1s', framework: 'go' }]);
  });
});
