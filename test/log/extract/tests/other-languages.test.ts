import { describe, expect, it } from 'vitest';
import { readTests } from './read-tests.ts';

describe('.NET', () => {
  it('is read with expected and actual values, once', () => {
    const tests = readTests(`
      [xUnit.net 00:00:00.52]     Shop.Tests.CartTests.AddsUp [FAIL]
      [xUnit.net 00:00:00.52]       Assert.Equal() Failure: Values differ
        Failed Shop.Tests.CartTests.AddsUp [12 ms]
        Error Message:
         Assert.Equal() Failure: Values differ
      Expected: 3
      Actual:   2
        Stack Trace:
           at Shop.Tests.CartTests.AddsUp() in /src/CartTests.cs:line 12
        Skipped Shop.Tests.CartTests.Later [1 ms]

      Failed!  - Failed:     1, Passed:     2, Skipped:     1, Total:     4`);
    expect(tests).toMatchObject([
      {
        name: 'Shop.Tests.CartTests.AddsUp',
        file: '/src/CartTests.cs',
        line: 12,
        expected: '3',
        actual: '2',
      },
    ]);
    expect(tests).toHaveLength(1);
  });

  it('is read in the formats of NUnit and the testing platform', () => {
    expect(readTests('1) Failed : Shop.CartTests.AddsUp\n  Expected: 3\n  But was:  2\n')).toMatchObject([
      { name: 'Shop.CartTests.AddsUp', expected: '3', actual: '2' },
    ]);
    expect(
      readTests('failed AddsUp (12ms)\n  Assert.AreEqual failed. Expected:<3>. Actual:<2>.'),
    ).toMatchObject([{ name: 'AddsUp' }]);
  });

  it('includes Pester for PowerShell', () => {
    const tests = readTests(`
      Describing Cart
        [+] is there 5ms (3ms|2ms)
        [-] adds up 12ms (10ms|2ms)
         Expected 3, but got 2.
         at $total | Should -Be 3, /src/Cart.Tests.ps1:4
        [!] later 1ms`);
    expect(tests).toMatchObject([
      { name: 'adds up', suite: 'Cart', file: '/src/Cart.Tests.ps1', line: 4, expected: '3', actual: '2' },
    ]);
    expect(tests).toHaveLength(1);
  });
});

describe('Swift', () => {
  it('is read from XCTest, once', () => {
    const tests = readTests(`
      /src/CartTests.swift:12: error: -[ShopTests.CartTests testAddsUp] : XCTAssertEqual failed: ("2") is not equal to ("3")
      Test Case '-[ShopTests.CartTests testAddsUp]' failed (0.100 seconds).
      Test Case '-[ShopTests.CartTests testFine]' passed (0.100 seconds).`);
    expect(tests).toMatchObject([
      { name: 'testAddsUp', suite: 'ShopTests.CartTests', line: 12, expected: '3', actual: '2' },
    ]);
    expect(tests).toHaveLength(1);
  });

  it('is read from Swift Testing, without known issues', () => {
    const tests = readTests(`
      ✘ Test "Adds up" recorded an issue at CartTests.swift:12:5: Expectation failed: (total → 2) == 3
      ✘ Test "Adds up" failed after 0.001 seconds with 1 issue.
      ✘ Test later() recorded a known issue at CartTests.swift:20:5: Expectation failed: false
      ✔ Test later() passed after 0.001 seconds with 1 known issue.`);
    expect(tests).toMatchObject([{ name: 'Adds up', file: 'CartTests.swift', line: 12 }]);
    expect(tests).toHaveLength(1);
  });
});

describe('Elixir and Erlang', () => {
  it('are read from ExUnit', () => {
    const tests = readTests(`
        1) test adds up (CartTest)
           test/cart_test.exs:4
           Assertion with == failed
           code:  assert 2 == 3
           left:  2
           right: 3
           stacktrace:
             test/cart_test.exs:4: (test)

      Finished in 0.07 seconds`);
    expect(tests).toMatchObject([
      {
        name: 'test adds up',
        suite: 'CartTest',
        file: 'test/cart_test.exs',
        line: 4,
        expected: '3',
        actual: '2',
      },
    ]);
  });

  it('are read from EUnit and Common Test', () => {
    const eunit =
      "cart_tests: adds_up_test (module 'cart_tests')...*failed*\nin function cart_tests:adds_up_test/0 (test/cart_tests.erl, line 5)";
    expect(readTests(eunit)).toMatchObject([
      { name: 'adds_up_test', suite: 'cart_tests', framework: 'eunit' },
    ]);
    expect(readTests('%%% cart_SUITE ==> adds_up: FAILED\n%%% cart_SUITE ==> {badmatch,2}')).toMatchObject([
      { name: 'adds_up', suite: 'cart_SUITE', message: '{badmatch,2}' },
    ]);
    expect(
      readTests('- - - - - - - - - -\ncart_SUITE:adds_up failed on line 12\nReason: {badmatch,2}'),
    ).toMatchObject([{ name: 'adds_up', line: 12 }]);
  });
});

describe('Haskell', () => {
  it('is read from Hspec', () => {
    const tests = readTests(`
      Failures:

        test/CartSpec.hs:8:23:
        1) Cart adds up
             expected: 3
              but got: 2

        To rerun use: --match "/Cart/adds up/" --seed 1

      Randomized with seed 1`);
    expect(tests).toMatchObject([
      { name: 'Cart adds up', file: 'test/CartSpec.hs', line: 8, expected: '3', actual: '2' },
    ]);
    expect(tests).toHaveLength(1);
  });

  it('is read from Tasty', () => {
    const tests = readTests(`
      Cart
        is there: OK
        adds up:  FAIL (0.01s)
          test/Main.hs:12:
          expected: 3
           but got: 2
          Use -p '/adds up/' to rerun this test only.`);
    expect(tests).toMatchObject([
      { name: 'adds up', file: 'test/Main.hs', line: 12, expected: '3', actual: '2' },
    ]);
  });
});

describe('R, Julia and Lua', () => {
  it('are read from testthat, old and new, without warnings', () => {
    expect(
      readTests(
        "── Failure ('test-cart.R:3:3'): adds up ─────────\ntotal() not equal to 3.\n\n── Warning ('test-cart.R:9:3'): later ───",
      ),
    ).toMatchObject([{ name: 'adds up', file: 'test-cart.R', line: 3, message: 'total() not equal to 3.' }]);
    expect(
      readTests('── 1. Failure: adds up (@test-cart.R#3)  ─────\ntotal() not equal to 3.'),
    ).toMatchObject([{ name: 'adds up', line: 3 }]);
  });

  it("are read from Julia's Test", () => {
    const tests = readTests(`
      Cart: Test Failed at /src/test/runtests.jl:5
        Expression: total() == 3
         Evaluated: 2 == 3

      Stacktrace:`);
    expect(tests).toMatchObject([
      { name: 'Cart', file: '/src/test/runtests.jl', line: 5, expected: '3', actual: '2' },
    ]);
  });

  it('are read from busted, without pending tests', () => {
    const tests = readTests(`
      Pending → spec/cart_spec.lua @ 5
      Cart later

      Failure → spec/cart_spec.lua @ 2
      Cart adds up
      spec/cart_spec.lua:2: Expected objects to be equal.
      Passed in:
      (number) 2
      Expected:
      (number) 3`);
    expect(tests).toMatchObject([
      { name: 'Cart adds up', file: 'spec/cart_spec.lua', line: 2, expected: '3', actual: '2' },
    ]);
    expect(tests).toHaveLength(1);
  });
});

describe('Perl and shell', () => {
  it('are read from prove: checks by name, a script without checks by its file, without todo checks', () => {
    const tests = readTests(`
      no cart at t/boom.t line 1.
      t/boom.t ..
      Dubious, test returned 255 (wstat 65280, 0xff00)
      All 1 subtests passed

      #   Failed test 'adds up'
      #   at t/cart.t line 2.
      #          got: '2'
      #     expected: '3'

      #   Failed (TODO) test 'later'
      #   at t/cart.t line 9.
      # Looks like you failed 1 test of 4.
      t/cart.t ..
      Dubious, test returned 1 (wstat 256, 0x100)
      Failed 1/4 subtests

      Test Summary Report
      -------------------
      Result: FAIL`);
    expect(tests).toMatchObject([
      { name: 'adds up', suite: 't/cart.t', file: 't/cart.t', line: 2, expected: "'3'", actual: "'2'" },
      { name: 't/boom.t', file: 't/boom.t' },
    ]);
    expect(tests).toHaveLength(2);
  });

  it('are read from Bats, plain and pretty', () => {
    const plain =
      'not ok 1 adds up\n# (in test file cart.bats, line 2)\n#   `[ "$total" -eq 3 ]\' failed\nok 2 later # skip';
    expect(readTests(plain)).toMatchObject([
      { name: 'adds up', file: 'cart.bats', line: 2, message: '`[ "$total" -eq 3 ]\' failed' },
    ]);
    const pretty =
      ' ✗ adds up\n   (in test file cart.bats, line 2)\n     `[ "$total" -eq 3 ]\' failed\n ✓ ok';
    expect(readTests(pretty)).toMatchObject([
      { name: 'adds up', file: 'cart.bats', line: 2, framework: 'bats' },
    ]);
  });
});

describe('Go', () => {
  it('is read from Ginkgo', () => {
    const tests = readTests(`
      • [FAILED] [0.001 seconds]
      Cart [It] adds up
      /src/cart_test.go:12

        [FAILED] Expected
            <int>: 2
        to equal
            <int>: 3
        In [It] at: /src/cart_test.go:14 @ 01/02/26 03:04:05.678
      ------------------------------

      Summarizing 1 Failure:
        [FAIL] Cart [It] adds up
        /src/cart_test.go:14

      Ran 2 of 2 Specs in 0.001 seconds`);
    expect(tests).toMatchObject([
      { name: 'Cart adds up', file: '/src/cart_test.go', line: 14, expected: '3', actual: '2' },
    ]);
    expect(tests).toHaveLength(1);
  });
});

describe("dart's reporter for GitHub Actions", () => {
  it('is read with the exception that Flutter prints', () => {
    const tests = readTests(`
      ✅ /srv/app/test/coin_test.dart: Coin reads JSON
      ##[group]❌ /srv/app/test/home_test.dart: Home shows matches (failed)
      ══╡ EXCEPTION CAUGHT BY FLUTTER TEST FRAMEWORK ╞════════════════════
      The following assertion was thrown running a test:
      You must initialize the client before calling Client.instance
      
      When the exception was thrown, this was the stack:
      #2      Client.instance (package:client/src/client.dart:45:7)
      ##[endgroup]
      ##[error]1 test passed, 1 failed.`);
    expect(tests).toMatchObject([
      {
        name: 'Home shows matches',
        file: '/srv/app/test/home_test.dart',
        message: 'You must initialize the client before calling Client.instance',
      },
    ]);
  });
});

describe('prove -v', () => {
  it('names each check once, none for its subtests, and a file that crashed', () => {
    const tests = readTests(`
      #   Failed test 'adds up'
      #   at t/add.t line 2.
      #          got: '3'
      #     expected: '4'
      # Looks like you failed 1 test of 2.
      t/add.t ..
      1..2
      not ok 1 - adds up
      ok 2 - fine
      Dubious, test returned 1 (wstat 256, 0x100)
      Failed 1/2 subtests
      no config at t
      # Looks like your test exited with 255 just after 1.
      t/die.t ..
      1..2
      ok 1 - first
      Dubious, test returned 255 (wstat 65280, 0xff00)
      Failed 1/2 subtests

          #   Failed test 'rate of one'
          #   at t/sub.t line 2.
          #          got: '1'
          #     expected: '2'
          # Looks like you failed 1 test of 1.

      #   Failed test 'rates'
      #   at t/sub.t line 2.
      # Looks like you failed 1 test of 1.
      t/sub.t ..`);
    expect(tests.map(({ name }) => name)).toEqual(['adds up', 'rate of one', 't/die.t']);
  });
});
