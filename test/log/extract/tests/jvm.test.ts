import { describe, expect, it } from 'vitest';
import { readTests } from './read-tests.ts';

describe('surefire', () => {
  it('excludes a test that passed on a retry', () => {
    const tests = readTests(`
      [ERROR] Tests run: 2, Failures: 2, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in org.x.TaxTest
      [ERROR] org.x.TaxTest.sometimes  Time elapsed: 0.01 s  <<< FAILURE!
      java.lang.AssertionError: not yet
      \tat org.x.TaxTest.sometimes(TaxTest.java:9)

      [ERROR] org.x.TaxTest.monthly  Time elapsed: 0.01 s  <<< FAILURE!
      java.lang.AssertionError: expected:<3> but was:<2>
      \tat org.x.TaxTest.monthly(TaxTest.java:12)

      [INFO] Results:
      [INFO]
      [WARNING] Flakes:
      [WARNING] org.x.TaxTest.sometimes
      [ERROR]   Run 1: TaxTest.sometimes:9 not yet
      [INFO]   Run 2: PASS
      [INFO]
      [ERROR] Failures:
      [ERROR] org.x.TaxTest.monthly
      [ERROR]   Run 1: TaxTest.monthly:12 expected:<3> but was:<2>
      [ERROR]   Run 2: TaxTest.monthly:12 expected:<3> but was:<2>
      [INFO]`);
    expect(tests).toMatchObject([{ name: 'monthly', suite: 'org.x.TaxTest', expected: '3', actual: '2' }]);
    expect(tests).toHaveLength(1);
  });
});

describe('TestNG', () => {
  it('is read from its text report, with the class in the frames', () => {
    const tests = readTests(`
      PASSED: isThere
      FAILED: addsUp("a", 1)
      java.lang.AssertionError: expected [3] but found [2]
      \tat org.testng.Assert.fail(Assert.java:94)
      \tat org.x.CartTest.addsUp(CartTest.java:12)
      SKIPPED: later

      ===============================================
          Default test
          Tests run: 3, Failures: 1, Skips: 1
      ===============================================`);
    expect(tests).toMatchObject([
      {
        name: 'addsUp("a", 1)',
        suite: 'org.x.CartTest',
        file: 'CartTest.java',
        line: 12,
        expected: '3',
        actual: '2',
        framework: 'testng',
      },
    ]);
    expect(tests).toHaveLength(1);
  });
});

describe('Ant', () => {
  it('is read in its brief format', () => {
    const tests = readTests(`
          [junit] Testcase: reads(org.x.IoTest):\tFAILED
          [junit] expected:<3> but was:<2>
          [junit] junit.framework.AssertionFailedError: expected:<3> but was:<2>
          [junit] \tat org.x.IoTest.reads(IoTest.java:3)
          [junit]
          [junit] Test org.x.IoTest FAILED`);
    expect(tests).toMatchObject([
      { name: 'reads', suite: 'org.x.IoTest', message: 'expected:<3> but was:<2>', expected: '3' },
    ]);
    expect(tests).toHaveLength(1);
  });
});

describe('Gradle', () => {
  it.each([
    ['org.x.CartTest > Nested > adds up FAILED', 'org.x.CartTest > Nested', 'adds up'],
    [
      'Gradle Test Run :test > Gradle Test Executor 3 > CartSpec > adds up to 3 FAILED',
      'CartSpec',
      'adds up to 3',
    ],
    [
      'TestNG > Method selectors > org.x.CommandLineTest.Method selectors FAILED',
      'org.x.CommandLineTest',
      'Method selectors',
    ],
    ['CartTest > adds(int) > org.x.CartTest.adds(int)[1] FAILED', 'org.x.CartTest', 'adds(int)[1]'],
    ['org.x.CartTest > adds[0: a.b.C] FAILED', 'org.x.CartTest', 'adds[0: a.b.C]'],
    ['org.x.CartTest.addsUp[jvm] FAILED', 'org.x.CartTest', 'addsUp[jvm]'],
  ])('is read from %j', (line, suite, name) => {
    expect(readTests(`${line}\n    java.lang.AssertionError at CartTest.java:12\n`)).toMatchObject([
      { suite, name },
    ]);
  });
});

describe('sbt', () => {
  it('with ScalaTest is read with the suite above', () => {
    const tests = readTests(`
      [info] CartSpec:
      [info] - is there
      [info] - adds up *** FAILED ***
      [info]   2 did not equal 3 (CartSpec.scala:12)
      [info] Run completed in 200 milliseconds.
      [info] *** 1 TEST FAILED ***
      [error] Failed tests:
      [error] \tshop.CartSpec`);
    expect(tests).toMatchObject([
      { name: 'adds up', suite: 'CartSpec', file: 'CartSpec.scala', line: 12, expected: '3', actual: '2' },
    ]);
    expect(tests).toHaveLength(1);
  });

  it('and Maven with ScalaTest, specs2, MUnit and JUnit are read', () => {
    expect(
      readTests('CartSpec:\n- adds up *** FAILED ***\n  2 did not equal 3 (CartSpec.scala:12)'),
    ).toMatchObject([{ name: 'adds up', suite: 'CartSpec' }]);
    expect(
      readTests('[info]   + is there\n[error]   x adds up\n[error]    2 != 3 (CartSpec.scala:12)'),
    ).toMatchObject([
      { name: 'adds up', file: 'CartSpec.scala', line: 12, message: '2 != 3', framework: 'specs2' },
    ]);
    expect(
      readTests('==> X shop.CartSuite.adds up  0.012s munit.ComparisonFailException: /src/CartSuite.scala:5'),
    ).toMatchObject([{ name: 'adds up', suite: 'shop.CartSuite', file: '/src/CartSuite.scala', line: 5 }]);
    expect(
      readTests('[error] Test shop.CartTest.addsUp failed: expected:<3> but was:<2>, took 0.01 sec'),
    ).toMatchObject([{ name: 'addsUp', suite: 'shop.CartTest', message: 'expected:<3> but was:<2>' }]);
  });
});

describe('bazel', () => {
  it('is read from the table at the end, without flaky targets', () => {
    const tests = readTests(`
      FAIL: //shop:cart_test (see /cache/shop/cart_test/test.log)
      FAIL: //shop:menu_test (see /cache/shop/menu_test/test_attempts/attempt_1.log)
      //shop:fine_test                                              PASSED in 0.3s
      //shop:menu_test                                              FLAKY, failed in 1 out of 2 in 0.3s
      //shop:cart_test                                              FAILED in 0.3s
      //shop:slow_test                                              TIMEOUT in 60.0s`);
    expect(tests.map(({ name }) => name)).toEqual(['//shop:cart_test', '//shop:slow_test']);
  });
});
