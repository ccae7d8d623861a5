import { describe, expect, it } from 'vitest';
import { readSources } from '../../../../src/log/read-sources.ts';

const read = (lines: readonly string[]) =>
  readSources([{ name: 'build.log', kind: 'log', text: lines.join('\n'), notes: [] }], {
    budgetTokens: 2_000,
  });

const LOGS: Readonly<Record<string, { lines: readonly string[]; tests: readonly object[] }>> = {
  pytest: {
    lines: [
      'collected 2 items',
      '',
      '=================================== FAILURES ===================================',
      '_________________________ TestTax.test_rate[a.b-3] _________________________',
      '',
      '    def test_rate(self):',
      '>       assert rate() == 3',
      'E       assert 2 == 3',
      '',
      'tests/test_tax.py:7: AssertionError',
      '=========================== short test summary info ============================',
      'FAILED tests/test_tax.py::TestTax::test_rate[a.b-3] - assert 2 == 3',
      '========================= 1 failed, 1 passed in 0.05s ==========================',
    ],
    tests: [
      {
        name: 'test_rate[a.b-3]',
        suite: 'TestTax',
        file: 'tests/test_tax.py',
        line: 7,
        message: 'assert 2 == 3',
        expected: '3',
        actual: '2',
        framework: 'pytest',
      },
    ],
  },
  'pytest with a name that fills the line': {
    lines: [
      '=================================== FAILURES ===================================',
      '__ TestTheRatesOfTheYear.test_rate_of_a_year_that_is_not_yet_closed_by_anybody __',
      '',
      'tests/test_tax.py:7: in test_rate_of_a_year_that_is_not_yet_closed_by_anybody',
      '    assert rate() == 3',
      'E   assert 2 == 3',
      '========================= 1 failed, 1 passed in 0.05s ==========================',
    ],
    tests: [
      {
        name: 'test_rate_of_a_year_that_is_not_yet_closed_by_anybody',
        suite: 'TestTheRatesOfTheYear',
        message: 'assert 2 == 3',
      },
    ],
  },
  'pytest collection error': {
    lines: [
      '==================================== ERRORS ====================================',
      '____________________ ERROR collecting tests/test_rota.py _____________________',
      'tests/test_rota.py:1: in <module>',
      '    import yaml',
      "E   ModuleNotFoundError: No module named 'yaml'",
      '=========================== short test summary info ============================',
      'ERROR tests/test_rota.py',
    ],
    tests: [{ name: 'tests/test_rota.py', message: "ModuleNotFoundError: No module named 'yaml'" }],
  },
  unittest: {
    lines: [
      '..F',
      '======================================================================',
      'FAIL: test_monthly (tests.test_tax.MonthlyTest.test_monthly)',
      '----------------------------------------------------------------------',
      'Traceback (most recent call last):',
      '  File "/build/tests/test_tax.py", line 12, in test_monthly',
      '    self.assertEqual(monthly(), 3)',
      'AssertionError: 2 != 3',
      '',
      '----------------------------------------------------------------------',
      'Ran 3 tests in 0.001s',
      '',
      'FAILED (failures=1)',
    ],
    tests: [
      {
        name: 'test_monthly',
        suite: 'tests.test_tax.MonthlyTest',
        line: 12,
        message: 'AssertionError: 2 != 3',
        actual: '2',
        expected: '3',
      },
    ],
  },
  jest: {
    lines: [
      'FAIL test/cart.test.js',
      '  cart',
      '    ✕ rounds (3 ms)',
      '',
      '  ● cart › rounds',
      '',
      '    expect(received).toBe(expected) // Object.is equality',
      '',
      '    Expected: 43.43',
      '    Received: 43.42',
      '',
      '      at Object.<anonymous> (test/cart.test.js:9:20)',
      '',
      'Test Suites: 1 failed, 1 total',
    ],
    tests: [
      {
        name: 'rounds',
        suite: 'cart',
        file: 'test/cart.test.js',
        line: 9,
        expected: '43.43',
        actual: '43.42',
        framework: 'jest',
      },
    ],
  },
  vitest: {
    lines: [
      '⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯',
      '',
      ' FAIL  test/a.test.ts > outer > inner',
      'AssertionError: expected 1 to be 2 // Object.is equality',
      '',
      ' ❯ test/a.test.ts:5:13',
      '',
      '⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯',
      ' Test Files  1 failed (1)',
    ],
    tests: [{ name: 'inner', suite: 'outer', file: 'test/a.test.ts', line: 5, framework: 'vitest' }],
  },
  mocha: {
    lines: [
      '  7 passing (9s)',
      '  2 failing',
      '',
      '  1) digest',
      '       weekly',
      '         is sent:',
      '     Error: Timeout of 500ms exceeded.',
      '      at listOnTimeout (node:internal/timers:581:17)',
      '',
      '  2) digest',
      '       is kept:',
      '     TypeError: x is undefined',
      '      at Context.<anonymous> (test/digest.test.js:19:20)',
      '',
    ],
    tests: [
      { name: 'is sent', suite: 'digest weekly', message: 'Error: Timeout of 500ms exceeded.' },
      { name: 'is kept', suite: 'digest', file: 'test/digest.test.js', line: 19 },
    ],
  },
  tap: {
    lines: [
      'ok 1 fine',
      'not ok 2 parallel/test-a',
      '  ---',
      '  severity: fail',
      '  stack: |-',
      '    AssertionError [ERR_ASSERTION]: no',
      '  ...',
      'not ok 3 later # TODO some day',
    ],
    tests: [{ name: 'parallel/test-a', message: 'AssertionError [ERR_ASSERTION]: no', framework: 'tap' }],
  },
  surefire: {
    lines: [
      '[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in org.x.TaxTest',
      '[ERROR] org.x.TaxTest.monthly  Time elapsed: 0.01 s  <<< FAILURE!',
      'org.opentest4j.AssertionFailedError: expected: <3> but was: <2>',
      '\tat org.x.TaxTest.monthly(TaxTest.java:12)',
      '',
      '[INFO] Results:',
      '[ERROR] Failures: ',
      '[ERROR]   TaxTest.monthly:12 expected: <3> but was: <2>',
      '[INFO] ',
    ],
    tests: [
      {
        name: 'monthly',
        suite: 'org.x.TaxTest',
        file: 'TaxTest.java',
        line: 12,
        expected: '3',
        actual: '2',
        framework: 'maven',
      },
    ],
  },
  gradle: {
    lines: [
      '> Task :test FAILED',
      '',
      'org.x.TaxTest > monthly() FAILED',
      '    org.opentest4j.AssertionFailedError at TaxTest.java:12',
      '',
      '2 tests completed, 1 failed',
    ],
    tests: [
      { name: 'monthly()', suite: 'org.x.TaxTest', file: 'TaxTest.java', line: 12, framework: 'gradle' },
    ],
  },
  ant: {
    lines: [
      '    [junit] Testcase: reads took 0.005 sec',
      '    [junit] \tFAILED',
      '    [junit] Output does not match',
      '    [junit] \tat org.x.IoTest.reads(IoTest.java:3)',
      '    [junit] ',
    ],
    tests: [{ name: 'reads', suite: 'org.x.IoTest', message: 'Output does not match', framework: 'junit' }],
  },
  'go test': {
    lines: [
      '--- FAIL: TestTitles (0.00s)',
      '    --- FAIL: TestTitles/one (0.00s)',
      '        title_test.go:18: got a, want b',
      'FAIL',
      'FAIL\texample.test/titles\t0.003s',
    ],
    tests: [
      { name: 'TestTitles/one', file: 'title_test.go', line: 18, message: 'got a, want b', framework: 'go' },
    ],
  },
  'go test, marked by a problem matcher': {
    lines: [
      '--- FAIL: TestTotal (0.00s)',
      '##[error]    total_test.go:12: got 3, want 4',
      'FAIL',
      'FAIL\texample.test/total\t0.003s',
    ],
    tests: [
      { name: 'TestTotal', file: 'total_test.go', line: 12, message: 'got 3, want 4', framework: 'go' },
    ],
  },
  cargo: {
    lines: [
      'test tests::fits ... FAILED',
      'test tests::other ... ok',
      '',
      'failures:',
      '',
      '---- tests::fits stdout ----',
      "thread 'tests::fits' panicked at src/lib.rs:21:9:",
      'assertion `left == right` failed',
      '  left: 2',
      ' right: 3',
      '',
      'failures:',
      '    tests::fits',
      '',
      'test result: FAILED. 1 passed; 1 failed',
    ],
    tests: [
      {
        name: 'tests::fits',
        file: 'src/lib.rs',
        line: 21,
        message: 'assertion `left == right` failed',
        framework: 'cargo',
      },
    ],
  },
  rspec: {
    lines: ['Failed examples:', '', 'rspec ./spec/a_spec.rb:4 # Cart adds up'],
    tests: [{ name: 'Cart adds up', file: './spec/a_spec.rb', line: 4, framework: 'rspec' }],
  },
  phpunit: {
    lines: [
      'There was 1 failure:',
      '',
      '1) App\\Tests\\TaxTest::testRate',
      'Failed asserting that 2 matches expected 3.',
      '',
      '/app/tests/TaxTest.php:9',
      '',
      'FAILURES!',
    ],
    tests: [
      {
        name: 'testRate',
        suite: 'App\\Tests\\TaxTest',
        message: 'Failed asserting that 2 matches expected 3.',
      },
    ],
  },
  gtest: {
    lines: ['[       OK ] Csv.Reads (0 ms)', '[  FAILED  ] Csv.Skips (1 ms)'],
    tests: [{ name: 'Skips', suite: 'Csv', framework: 'gtest' }],
  },
  'a browser harness': {
    lines: [
      '[task 2025-02-13T21:27:46.822Z] 21:27:46     INFO - TEST-UNEXPECTED-FAIL | dom/a.html | not equal',
    ],
    tests: [{ name: 'dom/a.html', message: 'not equal' }],
  },
}; // prettier-ignore

describe('failing tests', () => {
  it.each(Object.keys(LOGS))('are read from %s', (kind) => {
    const { lines, tests } = LOGS[kind]!;
    const { failingTests } = read(lines);
    expect(failingTests).toMatchObject(tests);
    expect(failingTests).toHaveLength(tests.length);
  });

  it('are not read from the names of passed tests', () => {
    const lines = [
      'ok 1 reports ECONNREFUSED when the database is down',
      '  ✓ says "No space left on device" (2 ms)',
      'test errors::out_of_memory ... ok',
      'tests/test_x.py::test_connection_refused PASSED',
    ];
    const { failingTests, messages, exceptions } = read(lines);
    expect({ failingTests, messages, exceptions }).toEqual({
      failingTests: [],
      messages: [],
      exceptions: [],
    });
  });

  it('refer to the line that names them', () => {
    const { failingTests } = read(['x', 'not ok 2 name']);
    expect(failingTests[0]?.at).toEqual({ source: 'build.log', line: 2 });
  });
});
