import { type Rule, ruleTable, STRUCTURED } from '../rule.ts';
import { ASSERTION_WORDS, ENVIRONMENT_WORDS } from '../vocabulary.ts';

/** A test states an expectation and it does not hold, or the test itself is wrong or timing-dependent. */
export const TEST_RULES: readonly Rule[] = ruleTable({ category: 'TEST_FAILURE' }, [
  [
    'assertion-of-failing-test',
    'assertion',
    4.5,
    ASSERTION_WORDS,
    {
      from: ['test', 'headline', 'exception'],
      when: (fact) => !ENVIRONMENT_WORDS.test(fact.text),
    },
  ],
  [
    'expected-and-actual',
    'assertion',
    3.8,
    /[\s\S]/,
    {
      from: ['test'],
      when: (_fact, facts) => facts.subject.failingTests.some((test) => test.expected !== null && test.actual !== null),
    },
  ],
  [
    'assertion-line',
    'assertion',
    3.6,
    /\bAssertion(?:Failed)?Error\b|ComparisonFailure|^E\s{1,8}assert |\bexpected\b.{1,160}\bbut (?:was|got|received|found)\b|Expected .{1,120} (?:to (?:be|equal|have)|but got|, got)|Expected: |assertion `?(?:left|failed)|Failed: DID NOT RAISE|expected (?:exit code|substring|truthy)|(?:values?|objects?) (?:are|were) not equal|check failed: |Failure\/Error: |not equal but was|not (?:greater|less) than|Assertion failed/i,
    {
      when: (fact) => !ENVIRONMENT_WORDS.test(fact.text),
    },
  ],
  ['go-test-failed', 'assertion', 2.6, /^\s{0,12}--- FAIL: |_test\.go:\d{1,6}: /],
  ['tap-not-ok', 'assertion', 2.8, /^\s{0,12}not ok \d{1,6}\b(?!.{0,120}# (?:TODO|SKIP))/],
  ['test-named-as-failed', 'assertion', 2.2, /[\s\S]/, { from: ['test'] }],
  [
    'test-summary-counts-failures',
    'assertion',
    2.6,
    /Tests run: \d{1,7}, Failures: [1-9]|\b[1-9]\d{0,5} (?:tests? )?fail(?:ed|ures?|ing)\b|FAILED \((?:failures|errors)=\d|test result: FAILED|There (?:were|are) (?:failing tests|test failures)|Errors while running CTest|tests? failed out of|Failures: [1-9]|FAILED in \d|^# (?:FAIL|ERROR): {1,4}[1-9]|SUMMARY {1,4}\d{1,6}\/\d{1,6} tasks/i,
  ],
  [
    'pytest-failed-line',
    'assertion',
    3,
    /^(?:FAILED|ERROR) \S{1,240}::\S{1,240}|^\S{1,240}::\S{1,240} FAILED|^FAIL: |^\s{0,8}(?:✕|✗|✖|×|●) \S|\[\s{0,4}FAILED\s{0,4}\] |^\[FAIL(?:ED)?\] |^FAIL {1,4}\S|TEST-UNEXPECTED-(?:FAIL|TIMEOUT|PASS)|REFTEST TEST-UNEXPECTED|\*\*\* FAILED \*\*\*/,
  ],
  [
    'snapshot-mismatch',
    'snapshot',
    4.8,
    /snapshots? (?:failed|obsolete|does not match|mismatch)|does not match (?:the )?(?:stored |inline )?snapshot|toMatch(?:Inline)?Snapshot|golden (?:file )?(?:mismatch|differs)|snapshot assertion for|image (?:mismatch|comparison)|stored snapshot/i,
  ],
  [
    'test-wait-expired',
    'flaky_timing',
    4,
    /Exceeded timeout of \d|Timeout of \d{1,9} ?ms exceeded|Test timed out in \d|test timed out after|\bTimed out after \d{1,6}(?:\.\d{1,6})?s?\b|TestTimedOutException|TimeoutError: (?:locator|page|waiting)|wait(?:ed|ing) (?:for )?.{0,80}timed out|ConditionTimeoutException|Condition .{0,80} was not (?:met|fulfilled)|did(?:n't| not) (?:finish|complete|become|appear) (?:in|within)|panic: test timed out|async callback was not invoked|poll timed out|timeout waiting for|never (?:became|reached)|Timed retries exceeded/i,
    {
      when: (fact, facts) =>
        facts.subject.failingTests.length > 0 || /test|expect|locator|assert|timed out after \d{1,3}\.\d/i.test(fact.text),
    },
  ],
  [
    'test-order-or-race',
    'flaky_timing',
    2.4,
    /flaky|race condition in test|order[- ]dependent|intermittent(?:ly)? fail/i,
    { from: STRUCTURED, when: (_fact, facts) => facts.subject.failingTests.length > 0 },
  ],
]);
