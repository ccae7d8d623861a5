import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSources } from '../../../src/log/read-sources.ts';

function read(text: string, report?: string) {
  const log = { name: 'log', kind: 'log' as const, notes: [], text };
  const sources =
    report === undefined
      ? [log]
      : [log, { name: 'report.xml', kind: 'report' as const, notes: [], text: report }];
  return readSources(sources, { budgetTokens: 4_000 });
}

function readFixture(name: string) {
  return read(readFileSync(`test/fixtures/retries/${name}.txt`, 'utf8'));
}

const names = (tests: readonly { readonly name: string }[] | undefined) =>
  tests?.map(({ name }) => name) ?? [];

describe('tests that passed on a retry', () => {
  it.each([
    ['jest', ['has zones'], ['lamp turns green at last']],
    ['vitest', ['always bad'], ['comes to rest']],
    ['pytest-v', ['test_moons'], ['test_warm']],
    ['pytest-rR', ['test_moons'], ['test_warm']],
    ['pytest-flaky', ['test_moons'], ['test_warm']],
    ['pytest-lf', [], ['test_warm']],
    ['ctest', ['toll'], ['ring']],
    ['surefire', ['reelHasTwoSides'], ['lampIsWarm']],
    ['surefire-green', [], ['lampIsWarm']],
    ['gotestsum', ['TestOwl'], ['TestNestIsQuiet']],
    ['gotestsum-green', [], ['TestNestIsQuiet']],
  ])('are not failures in the output of %s', (name, failing, passed) => {
    const reading = readFixture(name);
    expect(names(reading.failingTests)).toEqual(failing);
    expect(names(reading.passedOnRetry)).toEqual(passed);
    expect(reading.notes.join()).toContain('failed first and passed on a rerun.');
    if (failing.length === 0) expect(reading.hasPassed).toBe(true);
  });

  it('leave none of their exceptions among the facts', () => {
    const { exceptions, messages } = readFixture('surefire');
    expect(JSON.stringify([exceptions, messages])).not.toContain('lamp is cold');
  });

  it('are those whose last attempt passed in Playwright, but not those of another project', () => {
    const reading = read(`
  ✘  1 [firefox] › pool.spec.js:10:1 › counts (165ms)
  ✓  2 [firefox] › pool.spec.js:10:1 › counts (retry #1) (57ms)
  ✘  3 [firefox] › pool.spec.js:20:1 › opens (65ms)
  ✓  4 [firefox] › pool.spec.js:20:1 › opens (retry #1) (57ms)
  ✘  5 [webkit] › pool.spec.js:20:1 › opens (65ms)
  ✘  6 [webkit] › pool.spec.js:20:1 › opens (retry #1) (57ms)

  1) [webkit] › pool.spec.js:20:1 › opens ───────────────────

    Error: the door is shut

        at pool.spec.js:21:9

  2) [firefox] › pool.spec.js:10:1 › counts ───────────────────

    Error: nobody came

        at pool.spec.js:12:41

  1 failed
    [webkit] › pool.spec.js:20:1 › opens ───────────────────
  2 flaky
    [firefox] › pool.spec.js:10:1 › counts ───────────────────
    [firefox] › pool.spec.js:20:1 › opens ───────────────────
`);
    expect(names(reading.failingTests)).toEqual(['opens']);
    expect(names(reading.passedOnRetry)).toContain('counts');
  });

  it('are those that nextest calls flaky, without attempts of another test', () => {
    const reading = read(`
  TRY 1 FAIL [   0.005s] (───) ferry::desk ramp_is_down
  stderr ───

    thread 'ramp_is_down' (319) panicked at tests/desk.rs:39:9:
    ramp is still moving

  TRY 2 PASS [   0.005s] (1/2) ferry::desk ramp_is_down
  TRY 1 FAIL [   0.005s] (───) ferry::desk under_water
  stderr ───

    thread 'under_water' (320) panicked at src/lib.rs:4:14:
    the ferry has 4 decks, not 9

  TRY 2 FAIL [   0.005s] (2/2) ferry::desk under_water
  stderr ───

    thread 'under_water' (321) panicked at src/lib.rs:4:14:
    the ferry has 4 decks, not 9

────────────
     Summary [   0.100s] 2 tests run: 1 passed (1 flaky), 1 failed, 0 skipped
   FLAKY 2/2 [   0.005s] (1/2) ferry::desk ramp_is_down
  TRY 2 FAIL [   0.005s] (2/2) ferry::desk under_water
`);
    expect(names(reading.failingTests)).toEqual(['under_water']);
    expect(names(reading.passedOnRetry)).toEqual(['ramp_is_down']);
    expect(JSON.stringify(reading.exceptions)).not.toContain('ramp');
    expect(
      reading.failingTests[0]?.spans?.some(({ lineStart, lineEnd }) => lineStart === 9 && lineEnd >= 13),
    ).toBe(true);
  });

  it('are those that Bazel calls flaky, with the tests inside them', () => {
    const reading = read(`INFO: From Testing //app:lamp_test:
==================== Test output for //app:lamp_test:
[ RUN      ] Lamp.IsWarm
app/lamp_test.cc:9: Failure
[  FAILED  ] Lamp.IsWarm (0 ms)
================================================================================
==================== Test output for //app:door_test:
[ RUN      ] Door.IsShut
app/door_test.cc:9: Failure
[  FAILED  ] Door.IsShut (0 ms)
================================================================================
//app:lamp_test                                                          FLAKY, failed in 1 out of 2 in 0.5s
//app:door_test                                                          FAILED in 3 out of 3 in 0.5s
`);
    expect(names(reading.failingTests)).toEqual(['//app:door_test', 'IsShut']);
    expect(names(reading.passedOnRetry)).toEqual(['//app:lamp_test']);
  });

  it('are those that Gradle tried less often than the failing ones, and all if no task failed because of tests', () => {
    const failed = (name: string) =>
      `LampTest > ${name}() FAILED\n    java.lang.IllegalStateException: ${name} at LampTest.java:6\n\n`;
    const ending =
      '> Task :test FAILED\n* What went wrong:\n> There were failing tests. See the report at: file:///x\nBUILD FAILED in 3s\n';
    const mixed = read(`> Task :test\n${failed('isWarm')}${failed('glows')}${failed('glows')}${ending}`);
    expect(names(mixed.failingTests)).toEqual(['glows()']);
    expect(names(mixed.passedOnRetry)).toEqual(['isWarm()']);
    const once = read(`> Task :test\n${failed('isWarm')}${failed('glows')}${ending}`);
    expect(names(once.failingTests)).toEqual(['isWarm()', 'glows()']);
    const green = read(`> Task :test\n${failed('isWarm')}\nBUILD SUCCESSFUL in 3s\n`);
    expect(green).toMatchObject({ failingTests: [], hasPassed: true, passedOnRetry: [{ name: 'isWarm()' }] });
  });

  it('are those that a report marks, even if the log shows the first attempt', () => {
    const report =
      '<testsuite name="a.LampTest"><testcase classname="a.LampTest" name="isWarm"><flakyFailure message="cold"/></testcase></testsuite>';
    const log =
      '[ERROR] a.LampTest.isWarm -- Time elapsed: 0.006 s <<< FAILURE!\njava.lang.AssertionError: cold\n\tat a.LampTest.isWarm(LampTest.java:6)\n\n';
    expect(names(read(log).failingTests)).toEqual(['isWarm']);
    expect(read(log, report)).toMatchObject({
      failingTests: [],
      exceptions: [],
      passedOnRetry: [{ suite: 'a.LampTest', name: 'isWarm' }],
    });
  });
});

describe('a suite that a script runs again', () => {
  const run = (failed: boolean, test = 'test_bell') =>
    failed
      ? `F.\n${'='.repeat(70)}\nFAIL: ${test} (t.BellTest.${test})\n${'-'.repeat(70)}\nTraceback (most recent call last):\n  File "t.py", line 10, in ${test}\n    self.fail("swings")\nAssertionError: swings\n\n${'-'.repeat(70)}\nRan 2 tests in 0.007s\n\nFAILED (failures=1)\n`
      : `..\n${'-'.repeat(70)}\nRan 2 tests in 0.018s\n\nOK\n`;

  it('passed if its last run passed', () => {
    expect(read(`${run(true)}Attempt 2 of 3\n${run(false)}`)).toMatchObject({
      failingTests: [],
      hasPassed: true,
      passedOnRetry: [{ suite: 't.BellTest', name: 'test_bell' }],
    });
  });

  it('failed for the tests that failed in the last run', () => {
    const reading = read(`${run(true)}The tests failed, running them again\n${run(true, 'test_clock')}`);
    expect(names(reading.failingTests)).toEqual(['test_clock']);
    expect(names(reading.passedOnRetry)).toEqual(['test_bell']);
  });

  it('failed if another suite follows, since it may be a different one', () => {
    expect(
      names(read(`${run(true)}py39: commands[0]> python -m unittest\n${run(false)}`).failingTests),
    ).toEqual(['test_bell']);
  });
});

describe('a wheel that was built in a second attempt', () => {
  const failed = [
    'Building wheels for collected packages: pear-press',
    '  Building wheel for pear-press (pyproject.toml): started',
    "      error: command 'gcc-3' failed: No such file or directory",
    '  ERROR: Failed building wheel for pear-press',
    'Failed to build pear-press',
    'ERROR: Could not build wheels for pear-press, which is required to install pyproject.toml-based projects',
  ];
  const step = (...lines: readonly string[]) =>
    read(
      [
        '##[group]Run make fruit',
        '##[endgroup]',
        ...lines,
        '##[error]Process completed with exit code 1.',
      ].join('\n'),
    );

  it.each(['Successfully built pear_press', 'Successfully installed pear-press-1.4 plum-2'])(
    'is not an error if pip prints %s below',
    (word) => {
      const reading = step(...failed, word, 'weigh.py:3: error: Name "weight" is not defined');
      expect(JSON.stringify([reading.diagnostics, reading.messages])).not.toContain('pear-press');
    },
  );

  it.each(['Successfully built plum', 'Successfully installed pear-1.4'])(
    'is an error if pip prints only %s below',
    (word) => {
      expect(JSON.stringify(step(...failed, word).messages)).toContain('pear-press');
    },
  );
});

describe('comments in a TAP stream', () => {
  const comment = '# Error: connect ECONNREFUSED 127.0.0.1:5439';
  const stream = (verdict: string) =>
    read(
      [
        'TAP version 13',
        comment,
        '# Subtest: weighs a pear',
        verdict,
        'not ok 2 - weighs a plum',
        '1..2',
      ].join('\n'),
    );

  it('are not errors above a passed test', () => {
    expect(JSON.stringify(stream('ok 1 - weighs a pear'))).not.toContain('ECONNREFUSED');
  });

  it('are shown above a failed test', () => {
    expect(JSON.stringify(stream('not ok 1 - weighs a pear'))).toContain('ECONNREFUSED');
  });
});
