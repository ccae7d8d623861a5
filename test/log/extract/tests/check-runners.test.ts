import { describe, expect, it } from 'vitest';
import { readTests } from './read-tests.ts';

describe('Meson', () => {
  it('is read with the output of each test, once', () => {
    const tests = readTests(`
      1/4 pedal FAIL            0.05s   exit status 1
      >>> MALLOC_PERTURB_=126 /home/runner/work/organ/organ/build/pedal
      ――――――――――――――――――――――――――――――――――――― ✀  ―――――――――――――――――――――――――――――――――――――
      pedal: 30 keys, expected 32
      ――――――――――――――――――――――――――――――――――――――――――――――――――――――――――――――――――――――――――――――
      
      2/4 organ:unit / stop  FAIL            0.04s   killed by signal 6 SIGABRT
      3/4 pipe  TIMEOUT        30.06s   killed by signal 15 SIGTERM
      4/4 wind  OK              0.03s
      
      Summary of Failures:
      
      1/4 pedal FAIL            0.05s   exit status 1
      2/4 organ:unit / stop  FAIL            0.04s   killed by signal 6 SIGABRT
      3/4 pipe  TIMEOUT        30.06s   killed by signal 15 SIGTERM
      
      Ok:                 1
      Fail:               2`);
    expect(tests).toMatchObject([
      { name: 'pedal', suite: null, message: 'pedal: 30 keys, expected 32', framework: 'meson' },
      { name: 'stop', suite: 'organ:unit', message: 'killed by signal 6 SIGABRT' },
      { name: 'pipe', message: 'killed by signal 15 SIGTERM' },
    ]);
    expect(tests).toHaveLength(3);
  });
});

describe('Automake', () => {
  it('is read with the logs of its tests, and TAP tests by their own results', () => {
    const tests = readTests(`
      make  check-TESTS
      PASS: t/stone.sh
      FAIL: t/wheel.sh
      ERROR: t/water.sh
      PASS: t/tap.test 1 - starts
      FAIL: t/tap.test 2 - stops
      ================================
         mill 1.0: ./test-suite.log
      ================================
      
      # TOTAL: 5
      # PASS:  2
      # FAIL:  2
      # ERROR: 1
      
      FAIL: t/wheel
      =============
      
      turning
      wheel: 7 blades, expected 8
      FAIL t/wheel.sh (exit status: 1)
      
      ERROR: t/water
      ==============
      
      cannot open river.csv: No such file or directory
      ERROR t/water.sh (exit status: 99)
      
      FAIL: t/tap
      ===========
      
      1..2
      ok 1 - starts
      PASS: t/tap.test 1 - starts
      not ok 2 - stops
      FAIL: t/tap.test 2 - stops
      # got 3, expected 4
      
      ============================================================================
      Testsuite summary for mill 1.0
      ============================================================================
      # TOTAL: 5
      # PASS:  2
      # FAIL:  2
      # ERROR: 1
      make[2]: *** [Makefile:483: test-suite.log] Error 1`);
    expect(tests.map(({ name, message }) => [name, message]).sort()).toEqual([
      ['stops', 'got 3, expected 4'],
      ['t/water.sh', 'cannot open river.csv: No such file or directory'],
      ['t/wheel.sh', 'wheel: 7 blades, expected 8'],
    ]);
  });

  it('is not assumed in lines of other tools', () => {
    expect(readTests('ERROR: could not find a version\nFAIL: disk\n')).toEqual([]);
    const log = 'ok 1 - presses\n1 of 2 tests failed\nERROR: The press has no licence for pears: buy one\n';
    expect(readTests(log)).toEqual([]);
  });
});

describe('other test drivers', () => {
  it.each([
    [
      'DejaGnu',
      'PASS: a.c\nFAIL: gcc.dg/loop-1.c (test for excess errors)\n\n\t\t=== gcc Summary ===\n\n# of expected passes\t\t1\n# of unexpected failures\t1',
      'gcc.dg/loop-1.c (test for excess errors)',
      null,
    ],
    [
      'lit',
      "FAIL: Mill :: CodeGen/wheel.ll (2 of 9)\n******************** TEST 'Mill :: CodeGen/wheel.ll' FAILED ********************\nScript:\n--\nopt < wheel.ll | FileCheck wheel.ll\n--\nExit Code: 1\n\nCommand Output (stderr):\n--\nwheel.ll:3:10: error: CHECK: expected string not found in input\n--\n\n********************",
      'CodeGen/wheel.ll',
      'wheel.ll:3:10: error: CHECK: expected string not found in input',
    ],
    [
      'Check',
      "50%: Checks: 2, Failures: 1, Errors: 0\ncheck_money.c:20:F:Core:test_amount:0: Assertion 'amount == 5' failed",
      'test_amount',
      "Assertion 'amount == 5' failed",
    ],
    [
      'Unity',
      'test/test_led.c:31:test_turns_on:FAIL: Expected 1 Was 0\n2 Tests 1 Failures 0 Ignored\nFAIL',
      'test_turns_on',
      'Expected 1 Was 0',
    ],
  ])('are read: %s', (_, log, name, message) => {
    expect(readTests(log)).toMatchObject([{ name, message }]);
  });
});
