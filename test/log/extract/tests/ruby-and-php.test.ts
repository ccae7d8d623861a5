import { describe, expect, it } from 'vitest';
import { readTests } from './read-tests.ts';

describe('rspec', () => {
  it('is read from the output of each example and the list to rerun, without pending ones', () => {
    const tests = readTests(`
      Pending: (Failures listed here are expected and do not affect your suite's status)

        1) Cart when full waits
           # later
           Failure/Error: it('waits') { pending('later'); expect(1).to eq(2) }

             expected: 2
                  got: 1
           # ./cart_spec.rb:7:in \`block (3 levels) in <top (required)>'

      Failures:

        1) Cart adds up
           Failure/Error: it('adds up') { expect(Cart.new.total).to eq(3) }

             expected: 3
                  got: 2

             (compared using ==)
           # ./cart_spec.rb:3:in \`block (2 levels) in <top (required)>'

        2) Cart many
           Got 2 failures:

           2.1) Failure/Error: it('many', :aggregate_failures) { expect(1).to eq(2); expect(3).to eq(4) }

                  expected: 2
                       got: 1
                # ./cart_spec.rb:10:in \`block (2 levels) in <top (required)>'

      Failed examples:

      rspec ./cart_spec.rb:3 # Cart adds up
      rspec './cart_spec.rb[1:4]' # Cart many`);
    expect(tests).toMatchObject([
      {
        name: 'Cart adds up',
        file: './cart_spec.rb',
        line: 3,
        message: 'expected: 3',
        expected: '3',
        actual: '2',
        framework: 'rspec',
      },
      { name: 'Cart many', file: './cart_spec.rb', line: 10, framework: 'rspec' },
    ]);
    expect(tests).toHaveLength(2);
  });

  it('has the same format as EUnit in Rebar', () => {
    const tests = readTests(`
      Failures:

        1) cart_tests:adds_up_test/0: module 'cart_tests'
           Failure/Error: ?assertEqual(3, cart : total())
             expected: 3
                  got: 2
           %% /src/test/cart_tests.erl:5:in \`cart_tests:adds_up_test/0'
           Output:`);
    expect(tests).toMatchObject([
      { framework: 'eunit', name: 'adds_up_test', suite: 'cart_tests', line: 5, expected: '3', actual: '2' },
    ]);
  });
});

describe('minitest', () => {
  it('is read with its places, without skipped tests', () => {
    const tests = readTests(`
        1) Failure:
      CartTest#test_adds [test/cart_test.rb:3]:
      Expected: 3
        Actual: 2

        2) Error:
      CartTest#test_boom:
      NoMethodError: undefined method \`foo' for nil:NilClass

        def test_boom; nil.foo; end
                          ^^^^
          test/cart_test.rb:4:in \`test_boom'

        3) Skipped:
      CartTest#test_skip [test/cart_test.rb:5]:
      later

      4 runs, 2 assertions, 1 failures, 1 errors, 1 skips`);
    expect(tests).toMatchObject(
      [
        {
          name: 'test_adds',
          suite: 'CartTest',
          file: 'test/cart_test.rb',
          line: 3,
          expected: '3',
          actual: '2',
        },
        {
          name: 'test_boom',
          suite: 'CartTest',
          file: 'test/cart_test.rb',
          line: 4,
          message: /NoMethodError/,
        },
      ].map((test) => ({
        ...test,
        message: test.message === undefined ? 'Expected: 3' : expect.stringMatching(test.message),
      })),
    );
    expect(tests).toHaveLength(2);
  });

  it('is read from the output of Rails, while tests run', () => {
    const tests = readTests(`
      F

      Failure:
      OrderTest#test_total [/app/test/models/order_test.rb:9]:
      Expected: 3
        Actual: 2


      bin/rails test test/models/order_test.rb:8`);
    expect(tests).toMatchObject([{ name: 'test_total', suite: 'OrderTest', line: 9, framework: 'minitest' }]);
  });
});

describe('test-unit', () => {
  it('is read below its rules, without omitted and pending tests', () => {
    const rule = '='.repeat(79);
    const tests = readTests(`
      ${rule}
      Failure: test_adds(CartTest)
      tu.rb:3:in \`test_adds'
        => 3:   def test_adds; assert_equal 3, 2; end
      <3> expected but was
      <2>
      ${rule}
      O
      ${rule}
      Omission: later [test_omit(CartTest)]
      tu.rb:5:in \`test_omit'
      ${rule}
      P
      ${rule}
      Pending: test_pend(CartTest): later
      tu.rb:6:in \`test_pend'
      ${rule}`);
    expect(tests).toMatchObject([
      { name: 'test_adds', suite: 'CartTest', file: 'tu.rb', line: 3, expected: '3', actual: '2' },
    ]);
  });
});

describe('phpunit', () => {
  it('is read from failures and errors, without risky, incomplete and skipped tests', () => {
    const tests = readTests(`
      There was 1 error:

      1) App\\CartTest::testBoom
      RuntimeException: no cart

      /app/vendor/phpunit/src/Framework/TestCase.php:90
      /app/tests/CartTest.php:9

      --

      There were 2 failures:

      1) App\\CartTest::it_adds_up
      Failed asserting that two strings are identical.
      --- Expected
      +++ Actual
      @@ @@
      -'a'
      +'b'

      /app/tests/CartTest.php:5

      2) App\\CartTest::testRate with data set "two" (2)
      Failed asserting that 2 matches expected 1.

      /app/tests/CartTest.php:7

      --

      There was 1 incomplete test:

      1) App\\CartTest::testLater
      later

      /app/tests/CartTest.php:10

      ERRORS!
      Tests: 8, Assertions: 4, Errors: 1, Failures: 2, Skipped: 1, Incomplete: 1.`);
    expect(tests).toMatchObject([
      {
        name: 'testBoom',
        suite: 'App\\CartTest',
        file: '/app/tests/CartTest.php',
        line: 9,
        message: 'RuntimeException: no cart',
      },
      { name: 'it_adds_up', line: 5, expected: "'a'", actual: "'b'" },
      { name: 'testRate with data set "two"', line: 7 },
    ]);
    expect(tests).toHaveLength(3);
  });

  it('has the same lists as Codeception', () => {
    const tests = readTests(`
      There was 1 failure:
      ---------
      1) CartCest: Adds up
       Test  tests/Unit/CartCest.php:addsUp
       Fail  Failed asserting that 2 matches expected 3.

      FAILURES!`);
    expect(tests).toMatchObject([{ name: 'addsUp', suite: 'CartCest', file: 'tests/Unit/CartCest.php' }]);
  });
});

describe('pest', () => {
  it('is read by its sections', () => {
    const tests = readTests(`
         FAIL  Tests\\Unit\\CartTest
        ⨯ it adds up                                                0.01s
        ✓ it is there
        ──────────────────────────────────────────────────────────────
         FAILED  Tests\\Unit\\CartTest > it adds up
        Failed asserting that 2 is identical to 3.

        at tests/Unit/CartTest.php:4
            1▕ <?php
        ➜   4▕ it('adds up', fn () => expect(2)->toBe(3));

        Tests:    1 failed, 1 passed (2 assertions)`);
    expect(tests).toMatchObject([
      { name: 'it adds up', suite: 'Tests\\Unit\\CartTest', file: 'tests/Unit/CartTest.php', line: 4 },
    ]);
  });
});

describe('a line that only introduces the next one', () => {
  it('is shown with it, even if the next one begins with a number and a colon like quoted code', () => {
    const tests = readTests(`
      Failures:

        1) horses stand in their boxes
           Failure/Error: before { @boxes = JSON.parse('{"Fox": }') }

           JSON::ParserError:
             859: unexpected token at '{"Fox": }'
           # ./spec/horses_spec.rb:4:in \`block (2 levels) in <top (required)>'

      1 example, 1 failure

      Failed examples:

      rspec ./spec/horses_spec.rb:6 # horses stand in their boxes`);
    expect(tests).toMatchObject([
      {
        name: 'horses stand in their boxes',
        message: `JSON::ParserError: 859: unexpected token at '{"Fox": }'`,
      },
    ]);
  });
});
