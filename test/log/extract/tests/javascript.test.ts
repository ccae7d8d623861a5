import { describe, expect, it } from 'vitest';
import { readSources } from '../../../../src/log/read-sources.ts';
import { readTests } from './read-tests.ts';

describe('ava', () => {
  it('is read by title, with the section below the rule, without known failures', () => {
    const tests = readTests(`
        ✘ [fail]: cart › adds up
        ✔ [expected fail] cart › known
        ✘ [fail]: cart › breaks Error thrown in test
        ─

        cart › adds up

        a/cart.test.mjs:2

         1: import test from 'ava';
         2: test('adds up', t => { t.is(2, 3); });

        Difference (- actual, + expected):

        - 2
        + 3

        › file://a/cart.test.mjs:2:26



        cart › breaks

        Error thrown in test:

        TypeError {
          message: 'no cart',
        }

        TypeError: no cart
            at file:///app/a/cart.test.mjs:4:29

        ─

        2 tests failed
        1 known failure`);
    expect(tests).toMatchObject([
      { name: 'adds up', suite: 'cart', file: 'a/cart.test.mjs', line: 2, expected: '3', actual: '2' },
      { name: 'breaks', suite: 'cart', message: 'TypeError: no cart' },
    ]);
    expect(tests).toHaveLength(2);
  });
});

describe('node:test', () => {
  it('is read from the list of its spec reporter, without todo tests', () => {
    const tests = readTests(`
      ▶ Cart
        ✖ adds up (1.158347ms)
        ⚠ todo one (0.084336ms) # TODO
      ✖ Cart (2.339278ms)

      ✖ failing tests:

      test at node.test.js:2:26
      ✖ adds up (1.158347ms)
        AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

        2 !== 3

            at TestContext.<anonymous> (/app/node.test.js:2:55) {
          actual: 2,
          expected: 3,
        }

      test at node.test.js:2:98
      ⚠ todo one (0.084336ms) # TODO
        Error: x`);
    expect(tests).toMatchObject([
      { name: 'adds up', file: 'node.test.js', line: 2, expected: '3', actual: '2' },
    ]);
    expect(tests).toHaveLength(1);
  });
});

describe('playwright', () => {
  it('excludes tests that passed on a retry', () => {
    const tests = readTests(`
        1) [chromium] › pw/cart.spec.ts:2:31 › Cart › adds up ─────────────────────

          Error: expect(received).toBe(expected) // Object.is equality

          Expected: 3
          Received: 2

              at /app/pw/cart.spec.ts:2:71

          Retry #1 ───────────────────────────────────────────────────────────────

          Error: expect(received).toBe(expected) // Object.is equality

        2) [chromium] › pw/cart.spec.ts:3:2 › Cart › flaky one ────────────────────

          Error: first time

        1 failed
          [chromium] › pw/cart.spec.ts:2:31 › Cart › adds up ──────────────────────
        1 flaky
          [chromium] › pw/cart.spec.ts:3:2 › Cart › flaky one ─────────────────────
        2 passed (2.6s)`);
    expect(tests).toMatchObject([
      { name: 'Cart › adds up', file: 'pw/cart.spec.ts', line: 2, expected: '3', actual: '2' },
    ]);
    expect(tests).toHaveLength(1);
  });
});

describe('karma', () => {
  it('is read from the lines of its browsers', () => {
    const tests = readTests(
      `
      HeadlessChrome 90.0.4430 (Linux 0.0.0) Cart adds up FAILED
      \tExpected 2 to be 3.
      \t    at UserContext.<anonymous> (test/cart.spec.js:4:23)
      HeadlessChrome 90.0.4430 (Linux 0.0.0): Executed 2 of 2 (1 FAILED) (0.01 secs / 0.002 secs)`.replaceAll(
        '\\t',
        '\t',
      ),
    );
    expect(tests).toMatchObject([{ name: 'Cart adds up', file: 'test/cart.spec.js', line: 4 }]);
    expect(tests).toHaveLength(1);
  });

  it("is read from its mocha reporter's list", () => {
    const tests = readTests(`
      FAILED TESTS:
        Cart
          when full
            ✖ adds up
              Chrome Headless 90.0 (Linux x86_64)
            AssertionError: expected 2 to equal 3
                at Context.<anonymous> (test/cart.spec.js:4:23)
`);
    expect(tests).toMatchObject([
      { name: 'adds up', suite: 'Cart when full', message: 'AssertionError: expected 2 to equal 3' },
    ]);
  });
});

describe('mocha and similar runners', () => {
  it('have titles with a value printed on several lines joined', () => {
    const tests = readTests(`
        1 passing (2s)
        1 failing

        1) Cart
             totals
               adds up with: {
        tax: true,
        items: 2
      }:
           Error: no cart
            at add (lib/cart.js:8:15)
`);
    expect(tests).toMatchObject([
      { name: 'adds up with: { tax: true, items: 2 }', suite: 'Cart totals', message: 'Error: no cart' },
    ]);
  });

  it('include jasmine, without its pending specs', () => {
    const tests = readTests(`
      Failures:
      1) Cart adds up
        Message:
          Expected 2 to be 3.
        Stack:
              at UserContext.<anonymous> (/app/spec/cart.spec.js:1:58)

      Pending:

      1) Cart later
        Temporarily disabled with xit

      4 specs, 1 failure, 1 pending spec`);
    expect(tests).toMatchObject([{ name: 'Cart adds up', expected: '3', actual: '2' }]);
    expect(tests).toHaveLength(1);
  });

  it('include uvu', () => {
    const tests = readTests(`
         FAIL  Cart  "adds up"
          Expected values to be strictly equal:  (is)

              ++3    (Expected)
              --2    (Actual)

          at assert (/app/node_modules/uvu/assert/index.js:33:8)`);
    expect(tests).toMatchObject([{ name: 'adds up', suite: 'Cart', expected: '3', actual: '2' }]);
  });
});

describe('a diff of Jest', () => {
  const diff = (head: string, ...lines: string[]) => `
      FAIL test/ward.test.js
        ● ward › has beds

          expect(received).toEqual(expected) // deep equality

          ${head}

            Object {
      ${lines.map((line) => `    ${line}`).join('\n      ')}
            }

            at Object.toEqual (test/ward.test.js:5:36)

      Tests:       1 failed, 1 total`;

  it('gives the line that changed, and not the counts in its head', () => {
    const text = diff(
      '- Expected  - 1\n          + Received  + 1',
      '      "name": "west",',
      '-     "beds": 19,',
      '+     "beds": 20,',
    );
    expect(readTests(text)).toMatchObject([
      { name: 'has beds', expected: '"beds": 19', actual: '"beds": 20' },
    ]);
  });

  it('gives the lines of one changed place, joined', () => {
    const changed = ['-     "beds": Array [', '-       19,', '-     ],', '+     "error": "closed",'];
    const text = diff('- Expected  - 3\n          + Received  + 1', ...changed);
    expect(readTests(text)).toMatchObject([
      { name: 'has beds', expected: '"beds": Array [ 19, ]', actual: '"error": "closed"' },
    ]);
  });

  it('gives no value if several places changed', () => {
    const changed = [
      '-     "beds": 19,',
      '+     "beds": 20,',
      '      "open": true,',
      '-     "name": "west",',
      '+     "name": "east",',
    ];
    const text = diff('- Expected  - 2\n          + Received  + 2', ...changed);
    expect(readTests(text)).toMatchObject([{ name: 'has beds', expected: null, actual: null }]);
  });
});

describe('an expectation of Playwright about an element', () => {
  const text = `
  1) tests/inn.spec.js:3:3 › the inn › shows the heading ────

    Error: expect(locator).toBeVisible() failed

    Locator: getByRole('heading', { name: 'Rooms' })
    Expected: visible
    Timeout: 1500ms
    Error: element(s) not found

    Call log:
      - Expect "toBeVisible" getByRole('heading', { name: 'Rooms' }) with timeout 1500ms

        at tests/inn.spec.js:3:150

  1 failed
    tests/inn.spec.js:3:3 › the inn › shows the heading ────`;

  it('gives what it waited for, and no exception for the element that is missing', () => {
    expect(readTests(text)).toMatchObject([{ expected: 'visible', actual: 'not found' }]);
    const sources = [{ name: 'build.log', kind: 'log' as const, text, notes: [] }];
    const { exceptions } = readSources(sources, { budgetTokens: 2_000 });
    expect(exceptions.map(({ message }) => message)).not.toContain('element(s) not found');
  });
});
