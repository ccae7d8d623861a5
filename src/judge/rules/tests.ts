import {
  ASSERTION_WORDS,
  COMPILER_BEGINS,
  ENVIRONMENT_WORDS,
  type Fact,
  type Facts,
  isDiagnosed,
  isThrown,
} from '../facts.ts';
import { defineRules, type RuleRow } from '../rule.ts';

/** Words of comparison that programs of all kinds print. The other words are used only by tests. */
const COMPARES = /\b(?:expected|want(?:ed)?)\b/i;
const SAYS_ASSERTION =
  /assert|\bnot ok\b|\b(?:REQUIRE|CHECK)\w{0,20}\(|_test\.|Failed (?:test|example)|\bexpect\(|equality of these values/i;

/** Checks whether any output points to tests. */
function showsTests({ failingTests, failedSections, excerpts }: Facts['subject']): boolean {
  return (
    failingTests.length > 0 ||
    failedSections.some(({ name }) => TESTS.test(name)) ||
    excerpts.some(({ text }) => TESTS.test(text))
  );
}

const TESTS = /(?:^|[^a-z])(?:tests?|specs?|suites?|assert\w{0,12}|pytest|rspec|e2e)(?:[^a-z]|$)|Tests?\b/i;

/** Rules for a failed expectation of a test, and for a test that is wrong or depends on timing. */
export const TEST_RULES: readonly RuleRow[] = defineRules('TEST_FAILURE', {
  'assertion-of-failing-test': {
    kind: 'assertion',
    strength: 4.5,
    patterns: [ASSERTION_WORDS],
    from: ['test', 'headline', 'exception'],
    when: isExpectation,
    outranks: ['compiler-diagnostic'],
    matches: ['--- FAIL: TestWeigh (0.00s)\n    scales_test.go:4: expected 3 but got 0\nFAIL'],
    ignores: ['--- PASS: TestWeigh (0.00s)'],
    says: [
      {
        log: '--- FAIL: TestWeigh (0.00s)\n    scales_test.go:4: expected 3 but got 0\nFAIL',
        title: '“TestWeigh”: expected 3 but got 0',
        cause: '“TestWeigh” (scales_test.go:4) fails: it expects 3 but gets 0.',
        fix:
          'Start at scales_test.go:4: “TestWeigh” gets 0 instead of 3. Fix the code, or update the test ' +
          'if the new value is intended.',
      },
      {
        log: "    def test_weigh():\n>       assert weigh(pear) == 3\nE       assert 0 == 3\nE        +  where 0 = weigh('pear')\n\ntests/test_scales.py:4: AssertionError\n=========================== short test summary info ============================\nFAILED tests/test_scales.py::test_weigh - assert 0 == 3\n========================= 1 failed, 3 passed in 0.12s =========================",
        title: '“test_weigh”: expected 3 but got 0',
        cause: '“test_weigh” (tests/test_scales.py) fails: it expects 3 but gets 0.',
        fix:
          'Start at tests/test_scales.py:4: “test_weigh” gets 0 instead of 3. Fix the code, or update ' +
          'the test if the new value is intended.',
      },
      {
        log: "  ● scales › weighs a pear\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 3\n    Received: 0\n\n      2 | test('weighs a pear', () => {\n    > 4 |   expect(weigh('pear')).toBe(3);\n\n      at Object.<anonymous> (test/scales.test.js:4:9)\n\nTest Suites: 1 failed, 1 total",
        title: '“weighs a pear”: expected 3 but got 0',
        cause:
          "“weighs a pear” (test/scales.test.js:4) fails at `expect(weigh('pear')).toBe(3)`: it expects " +
          '3 but gets 0.',
        fix:
          'Start at test/scales.test.js:4: “weighs a pear” gets 0 instead of 3. Fix the code, or update ' +
          'the test if the new value is intended.',
      },
    ],
  },
  'expected-and-actual': {
    kind: 'assertion',
    strength: 3.8,
    patterns: [/^/],
    from: ['test'],
    when: (fact, facts) =>
      !isThrown(fact.text) &&
      facts.subject.failingTests.some(
        (test) =>
          test.expected !== null &&
          test.actual !== null &&
          test.message !== null &&
          fact.text.startsWith(test.message.slice(0, 200)),
      ),
    matches: ['--- FAIL: TestWeigh (0.00s)\n    scales_test.go:4: got 0, want 3\nFAIL'],
    ignores: ['Expected: 3 pears'],
  },
  'assertion-line': {
    kind: 'assertion',
    strength: 3.6,
    patterns: [
      /\bExpected .{1,160} (?:to|eq|==|===|!=|=~) /i,
      /\(expected (?:code |status )?\S{1,40}\)/i,
      /(?:_test|_unittest|Test)\.(?:cc|cpp|cxx):\d{1,6}: (?:Failure|Error)/i,
      /\bwant(?:ed)? .{1,120}, (?:got|have) /i,
      /\bgot .{1,120},? (?:want|expected) /i,
      /\bAssertion(?:Failed)?Error\b/i,
      /Assertion failed|Failed asserting that|Failure\/Error: |Failed: DID NOT RAISE|ComparisonFailure/i,
      /^E\s{1,8}assert /i,
      /\bexpected\b.{1,160}\bbut (?:was|got|received|found)\b/i,
      /Expected .{1,120} (?:to (?:be|equal|have)|but got|, got)/i,
      /(?:^(?:ERROR:)?[\s>E*#+-]{0,12}|\bgot: .{1,120} )Expected: /i,
      /assertion `?(?:left|failed)/i,
      /expected (?:exit code|substring|truthy)/i,
      /not equal but was|not (?:greater|less) than|(?:values?|objects?) (?:are|were) not equal|Condition not satisfied:/i,
      /(?:^|[\])] |: )check failed: /i,
      /\bXCTAssert\w{0,40} failed/i,
      /Expected equality of these values/i,
      /^\s{0,12}(?:REQUIRE|CHECK)\( ?\S/i,
      /^\s{0,12}(?:REQUIRE|CHECK)_(?:FALSE|THROWS|NOTHROW|THAT|MESSAGE|UNARY|EQ|NE|[LG][TE])\w{0,20}\( ?\S/i,
      /error: in "[^"]{1,200}": check .{1,200} has failed/i,
      /^\s{0,8}But was: /i,
      /\bAssert\.\w{1,40}\(\) Failure/i,
      /\b(?:did not equal|was not equal to) \S/i,
      /^# {1,6}Failed test\b/i,
      /^Failed example:/i,
      /^\W{0,6}\(in test file \S{1,200}, line \d/i,
      /^Error: {1,12}(?:Not equal|Should (?:be|not)|Received unexpected error|An error is expected)/i,
    ],
    when: isExpectation,
    matches: [
      'Failed asserting that 3 matches expected 0.',
      '/build/ScalesTests.swift:4: error: -[ScalesTests testPear] : XCTAssertEqual failed: ("3") is not ' +
        'equal to ("0")',
      'Expected equality of these values:',
      '  REQUIRE( weigh(pear) == 0 )',
      'scales_test.cpp(4): error: in "scales/pear": check weigh(pear) == 0 has failed [3 != 0]',
      'Assert.Equal() Failure: Values differ',
      'Condition not satisfied:',
      "#   Failed test 'weighs a pear'",
    ],
    ignores: [
      'Health check failed: HTTP 404',
      'check_error(error_code)',
      '✓ Expected: the pear is weighed',
      'ok 4 - check failed: is told',
    ],
  },
  'go-test-failed': {
    kind: 'assertion',
    strength: 2.6,
    patterns: [/^\s{0,12}--- FAIL: /, /_test\.go:\d{1,6}: /],
    matches: ['--- FAIL: TestWeigh (0.00s)'],
    ignores: ['--- PASS: TestWeigh (0.00s)'],
    says: [
      {
        log: '--- FAIL: TestWeigh (0.00s)',
        title: '“TestWeigh” fails',
        cause: '“TestWeigh” fails; the log does not say what it expected.',
        fix: null,
      },
    ],
  },
  'tap-not-ok': {
    kind: 'assertion',
    strength: 2.8,
    patterns: [/^\s{0,12}not ok \d{1,6}\b(?!.{0,120}# (?:TODO|SKIP))/],
    matches: ['not ok 4 - weighs a pear'],
    ignores: ['not ok 4 - weighs a pear # TODO later'],
  },
  'test-named-as-failed': {
    kind: 'assertion',
    strength: 2.2,
    patterns: [/[\s\S]/],
    from: ['test'],
    matches: ['--- FAIL: TestWeigh (0.00s)\n    scales_test.go:4: too heavy\nFAIL'],
    ignores: ['--- PASS: TestWeigh (0.00s)'],
  },
  'test-summary-counts-failures': {
    kind: 'assertion',
    strength: 2.6,
    patterns: [
      /Tests run: \d{1,7}, Failures: [1-9]/i,
      /\b[1-9]\d{0,5} (?:tests? )?fail(?:ed|ures?|ing)\b/i,
      /FAILED \((?:failures|errors)=\d/i,
      /test result: FAILED/i,
      /There (?:were|are) (?:failing tests|test failures)/i,
      /Errors while running CTest/i,
      /tests? failed out of/i,
      /Failures: [1-9]/i,
      /(?<!build |restore )FAILED in \d/i,
      /^# (?:FAIL|ERROR): {1,4}[1-9]/i,
      /SUMMARY {1,4}\d{1,6}\/\d{1,6} tasks/i,
    ],
    matches: ['> There were failing tests. See the report at: file:///build/reports/tests/test/index.html'],
    ignores: ['x Build failed in 140ms', 'Tests run: 12, Failures: 0, Errors: 0, Skipped: 0'],
  },
  'pytest-failed-line': {
    kind: 'assertion',
    strength: 3,
    patterns: [
      /^(?:FAILED|ERROR) \S{1,240}::\S{1,240}/,
      /^\S{1,240}::\S{1,240} FAILED/,
      /^FAIL: /,
      /^\s{0,8}(?:● .{1,200} › |[✕✗✖×] (?:(?:Given|When|Then) |.{1,200} [›>] |.{1,200}\d ?m?s\)?$))/,
      /\[\s{0,4}FAILED\s{0,4}\] /,
      /^\[FAIL(?:ED)?\] /,
      /^FAIL {1,4}\S/,
      /TEST-UNEXPECTED-(?:FAIL|TIMEOUT|PASS)/,
      /REFTEST TEST-UNEXPECTED/,
      /\*\*\* FAILED \*\*\*/,
    ],
    matches: [
      'FAILED tests/test_scales.py::test_weigh - assert 3 == 0',
      '- weighs a pear *** FAILED *** 3 did not equal 0 (ScalesSpec.scala:4)',
    ],
    ignores: [
      '× No solution found when resolving dependencies:',
      '✖ npm publish',
      'tests/test_scales.py::test_weigh PASSED',
    ],
  },
  'snapshot-mismatch': {
    kind: 'snapshot',
    strength: 4.8,
    patterns: [
      /\bsnapshot [`'"].{1,200}[`'"] (?:mismatched|did not match)/i,
      /snapshots? (?:failed|obsolete|does not match|mismatch)/i,
      /does not match (?:the )?(?:stored |inline )?snapshot/i,
      /expect\(.{0,300}\)\.to(?:Match(?:Inline|Image)?Snapshot|HaveScreenshot)\(/i,
      /golden (?:file )?(?:mismatch|differs)/i,
      /snapshot assertion for .{1,200} failed/i,
      /image (?:mismatch|comparison)/i,
    ],
    outranks: ['assertion-of-failing-test', 'expected-and-actual'],
    matches: ['Error: Snapshot `weighs a pear 1` mismatched'],
    ignores: ['Snapshots:   3 passed, 3 total', ' › 1 snapshot written.'],
    says: [
      {
        log:
          '  1) tests/pear.spec.ts:4:1 › looks as before ──────\n\n' +
          '    Error: expect(page).toHaveScreenshot(expected) failed\n\n' +
          '      338 pixels (ratio 0.01 of all image pixels) are different.\n\n' +
          '      Snapshot: pear.png\n\n' +
          "    > 6 |   await expect(page).toHaveScreenshot('pear.png');\n" +
          '        at tests/pear.spec.ts:6:22\n\n' +
          '    Expected: tests/pear.spec.ts-snapshots/pear-linux.png\n' +
          '    Received: test-results/pear-looks-as-before/pear-actual.png\n\n' +
          '  1 failed\n    tests/pear.spec.ts:4:1 › looks as before ──────',
        title: '“looks as before”: no longer matches its screenshot',
        cause:
          '“looks as before” (tests/pear.spec.ts:4) renders a page that differs from its screenshot in ' +
          '338 pixels.',
        fix:
          'Review the difference in “looks as before”. If every changed line is intended, update the ' +
          'snapshot and commit it; otherwise, fix the code that renders it.',
      },
    ],
  },
  'test-wait-expired': {
    kind: 'flaky_timing',
    strength: 4,
    patterns: [
      /(?:Exceeded timeout of|Timed out retrying after) \d/i,
      /Timeout of \d{1,9} ?ms exceeded/i,
      /Test timed out (?:in|after)|panic: test timed out|poll timed out|Timed retries exceeded/i,
      /\bTimed out after \d{1,6}(?:\.\d{1,6})?s?\b/i,
      /(?:TestTimedOut|ConditionTimeout)Exception/i,
      /TimeoutError: (?:locator|page|waiting)/i,
      /wait(?:ed|ing) (?:for )?.{0,80}timed out/i,
      /Condition .{0,80} was not (?:met|fulfilled)/i,
      /did(?:n't| not) (?:finish|complete|become|appear) (?:in|within)/i,
      /async callback was not invoked/i,
      /timeout waiting for/i,
      /never (?:became|reached)/i,
      /expected condition failed: waiting for/i,
    ],
    when: (fact, facts) =>
      facts.subject.failingTests.length > 0 ||
      /test|expect|locator|assert|timed out after \d{1,3}\.\d/i.test(fact.text),
    matches: [
      'CypressError: Timed out retrying after 4000ms: Expected to find element: `.pear`, but never found it.',
      'Test timeout of 30000ms exceeded.',
    ],
    ignores: ['✓ ends when the test timed out after 5 s', 'Retrying after 4000ms'],
    says: [
      {
        log: '  ● scales › weighs a pear\n\n    thrown: "Exceeded timeout of 5000 ms for a test.\n\n      at Object.<anonymous> (test/scales.test.js:4:9)\n\nTest Suites: 1 failed, 1 total',
        title: '“weighs a pear”: Exceeded timeout of 5000 ms for a test',
        cause: '“weighs a pear” (test/scales.test.js:4) timed out: “Exceeded timeout of 5000 ms for a test”.',
        fix:
          'Make “weighs a pear” wait for the condition that it needs (start at test/scales.test.js:4); ' +
          'raise its limit of 5000 ms only if it really takes longer.',
      },
    ],
  },
});

function isExpectation(fact: Fact, facts: Facts): boolean {
  return (
    (!COMPARES.test(fact.text) || SAYS_ASSERTION.test(fact.text) || showsTests(facts.subject)) &&
    !ENVIRONMENT_WORDS.test(fact.text) &&
    !COMPILER_BEGINS.test(fact.text) &&
    !isDiagnosed(fact, facts.subject)
  );
}
