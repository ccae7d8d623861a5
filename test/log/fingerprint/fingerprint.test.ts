import { describe, expect, it } from 'vitest';
import {
  computeFingerprint,
  FINGERPRINT_ALGORITHM,
  FINGERPRINT_VERSION,
  groupByCause,
  isGenericMessage,
  isUnknown,
} from '../../../src/log/fingerprint/failures.ts';

const nothing = { test: null, exceptionType: null, frames: [], message: null };
const computePrint = (message: string, test: string | null = null) =>
  computeFingerprint({ ...nothing, test, message }).fingerprint.value;

describe('the fingerprint', () => {
  it('contains its algorithm and version', () => {
    expect(computeFingerprint(nothing).fingerprint).toMatchObject({
      algorithm: FINGERPRINT_ALGORITHM,
      version: FINGERPRINT_VERSION,
    });
  });

  it.each([
    ['times', 'failed at 2024-01-02T03:04:05Z', 'failed at 2025-11-12T13:14:15Z'],
    ['ports and addresses', 'connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 10.0.0.7:5433'],
    ['durations', 'took 12.5 s to answer', 'took 7 s to answer'],
    ['hexadecimal ids', 'object 0x7ffdeadbeef is gone', 'object 0x1234567890 is gone'],
    ['UUIDs', 'no job 123e4567-e89b-12d3-a456-426614174000', 'no job 00000000-1111-2222-3333-444444444444'],
    ['path prefixes', 'cannot open /home/runner/work/a/a/src/x.ts', 'cannot open /builds/group/a/src/x.ts'],
    ['secrets', 'bad token ***', 'bad token ****'],
    [
      'host of an address',
      "channel 'agent-7.ci.example.net/10.0.0.7:50000' is closed",
      "channel '192.168.4.1/192.168.4.1:41234' is closed",
    ],
    ['IPv6 addresses', 'refused by fe80:0:0:0:2aa:ff:fe9a:4ca2 port 80', 'refused by 2001:db8::1 port 81'],
    ['temporary directories', 'no file in /tmp/tmpk3j_x9ab', 'no file in /var/tmp/tmpq0z1ttyu'],
    ['object addresses', 'no handler for com.acme.Cart@5acfe', 'no handler for com.acme.Cart@be7fad'],
    ['system', String.raw`cannot open C:\build\acme\src\rates.ts`, 'cannot open /home/ci/acme/src/rates.ts'],
    [
      'long form of a Windows path',
      String.raw`EPERM: '\\?\C:\build\acme\.tmp.17'`,
      "EPERM: '/srv/build/.tmp.4'",
    ],
    ['folder that a path begins in', 'no file packages/rates/src/load.ts', 'no file ./rates/src/load.ts'],
    ['name of this machine', 'connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED localhost:5432'],
    ['parts of a duration', 'gave up after 7m 41s', 'gave up after 41.5s'],
    ['unit of a size', 'the cache holds 1.5 GB', 'the cache holds 980 kB'],
    ['length of a number', 'row 17 is locked', 'row 123456789 is locked'],
    ['day', 'stale since Mon Jan 12 10:11:12 2026', 'stale since Fri Nov 6 01:02:03 2025'],
    ['kind of quotation mark', 'no field ‘total’ in "cart"', "no field 'total' in 'cart'"],
    [
      'depth of a trace',
      'no rates\n    at load (src/rates.ts:3:4)',
      'no rates\n    at top (src/main.ts:1:2)\n    at src/b.ts:1:1',
    ],
    ['colours', '\u001b[31mexpected rates\u001b[39m to load', 'expected rates to load'],
    ['version', 'acme-rates 1.2.3 is too old', 'acme-rates 4.17 is too old'],
    [
      'class of an assertion',
      'AssertionError [ERR_ASSERTION]: the input has no total',
      'the input has no total',
    ],
    [
      'strictness of a comparison',
      'Expected values to be strictly equal:',
      'Expected values to be strictly deep-equal:',
    ],
    [
      'place where memory ran out',
      '# Fatal process OOM in Zone',
      'FATAL ERROR: Scavenger: promotion failed JavaScript heap out of memory',
    ],
  ])('is the same with a different %s', (_, left, right) => {
    expect(computePrint(left)).toBe(computePrint(right));
  });

  it('differs by test, by small numbers in its name, and by message', () => {
    expect(
      new Set([
        computePrint('x is bad', 'case 3'),
        computePrint('x is bad', 'case 4'),
        computePrint('y is bad', 'case 3'),
        computePrint('x is bad'),
      ]).size,
    ).toBe(4);
  });

  it.each([
    ['HTTP statuses', 'GET /rates failed with status 502', 'GET /rates failed with status 404'],
    ['HTTP reasons', '500 Internal Server Error at the depot', '503 Internal Server Error at the depot'],
    ["npm's codes", 'npm error code E401 for the depot', 'npm error code E503 for the depot'],
    ["curl's codes", 'The requested URL returned error: 500', 'The requested URL returned error: 502'],
    [
      'exit codes',
      'worker of the depot died with exit code 137',
      'worker of the depot died with exit code 1',
    ],
  ])('distinguishes different %s', (_, left, right) => {
    expect(computePrint(left)).not.toBe(computePrint(right));
    expect(computePrint(left, 'test_a')).not.toBe(computePrint(right, 'test_a'));
  });

  it('is generic if it depends only on the name of a test', () => {
    expect(computeFingerprint({ ...nothing, test: 'test_a' }).generic).toBe(true);
    expect(computeFingerprint({ ...nothing, test: 'test_a', message: 'exit code 1' }).generic).toBe(true);
    expect(computeFingerprint({ ...nothing, test: 'test_a', message: 'the scale is off' }).generic).toBe(
      false,
    );
  });

  it('identifies an exception by its deepest own frame, not by the line', () => {
    const frames = (file: string, line: number) => [
      { file: 'node_modules/x.js', line: 1, function: 'lib', own: false },
      { file, line, function: 'load', own: true },
    ];
    const of = (file: string, line: number) =>
      computeFingerprint({ ...nothing, exceptionType: 'TypeError', frames: frames(file, line) });
    expect(of('/a/src/x.js', 3).fingerprint).toEqual(of('/b/src/x.js', 9).fingerprint);
    expect(of('/a/src/x.js', 3).fingerprint).not.toEqual(of('/a/src/y.js', 3).fingerprint);
    expect(of('/a/src/x.js', 3).generic).toBe(false);
  });

  it.each([
    'exit code 1',
    'BUILD FAILED',
    'Process completed with exit code 1.',
    '##[error]Process completed with exit code 2.',
    'npm ERR! Test failed.  See above for more details.',
    'npm ERR! code ELIFECYCLE',
    'make: *** [Makefile:3: all] Error 2',
    'error: ',
    'FAILURE: Build failed with an exception.',
    'The command "npm test" exited with 1.',
    'Finished: FAILURE',
    'script returned exit code 1',
    '',
  ])('of %j is generic', (message) => {
    expect(isGenericMessage(message)).toBe(true);
    expect(computeFingerprint({ ...nothing, message }).generic).toBe(true);
  });

  it.each(['TypeError: x is not a function', 'cannot find module left-pad', 'ld: cannot find -lfoo'])(
    'of %j is specific',
    (message) => {
      expect(computeFingerprint({ ...nothing, message }).generic).toBe(false);
    },
  );
});

describe('the fingerprint of a failure without a reason', () => {
  const silent = (test: string | null, message: string | null) =>
    computeFingerprint({ ...nothing, test, message });

  it('depends only on its test, however that ended, and is generic', () => {
    const endings = [null, 'timed out', 'crashed with exit code -11', 'SIGKILL', 'exit code 3221226505'].map(
      (one) => silent('test_a', one),
    );
    expect(new Set(endings.map(({ fingerprint }) => fingerprint.value)).size).toBe(1);
    expect(endings.every(({ generic }) => generic)).toBe(true);
    expect(silent('test_b', 'timed out').fingerprint).not.toEqual(silent('test_a', 'timed out').fingerprint);
  });

  it.each([
    'AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:',
    'java.lang.AssertionError',
    'The expression evaluated to a falsy value:',
    'Missing expected exception.',
    'expect(received).toEqual(expected) // deep equality',
    'expected: <true> but was: <false>',
    'expected false to be true',
    'AssertionError: False is not true',
    'assert False',
    'assertion `left == right` failed',
    'Failed asserting that two arrays are equal.',
    'Assert.True() Failure',
    'Expected equality of these values:',
    'AssertionError [ERR_ASSERTION]: 12.5 >= 7.25',
  ])('is not more specific because of %j', (message) => {
    expect(silent('test_a', message)).toEqual(silent('test_a', 'timed out'));
  });

  it.each([
    'expected 3 items but found 2',
    'expected: <3> but was: <2>',
    'expect(received).toBe(expected): the total is off',
    "assert 'rates' in page",
    'AssertionError: no such table',
    'Failed asserting that the cart is empty.',
  ])('is more specific because of %j', (message) => {
    expect(silent('test_a', message).generic).toBe(false);
  });

  it('is the same on all platforms, whatever the exit code', () => {
    expect(silent('test_a', 'crashed with exit code -11')).toEqual(
      silent('test_a', 'crashed with exit code 3221225477'),
    );
    expect(silent('test_a', 'exit code 7')).toEqual(silent('test_a', null));
    expect(silent('test_a', 'npm ERR! Test failed.  See above for more details.')).toEqual(
      silent('test_a', null),
    );
    for (const passed of [
      'ok 3 - adds two numbers',
      '# Subtest: adds two numbers',
      '[PASS] adds two numbers',
      '✔ adds two numbers (2 ms)',
    ]) {
      expect(silent('test_a', passed)).toEqual(silent('test_a', null));
    }
  });

  it('is not generic if an own frame gives the place', () => {
    const frames = [{ file: 'src/pool.c', line: 3, function: 'take', own: true }];
    expect(computeFingerprint({ ...nothing, test: 'test_a', message: 'SIGSEGV', frames }).generic).toBe(
      false,
    );
  });

  it.each([
    ['acme.CartTest sums up', null, 'src/test/java/acme/CartTest.java'],
    ['unit/cart', null, '/home/ci/acme/test/unit/cart.js'],
    ['sums up', 'tests/test_cart.py', String.raw`C:\acme\tests\test_cart.py`],
  ])('is generic if only the test itself gives the place of a failed check: %s', (test, testFile, file) => {
    const frames = [{ file, line: 3, function: 'sums', own: true }];
    const of = (exceptionType: string | null) =>
      computeFingerprint({ test, testFile, exceptionType, frames, message: null });
    expect(of('AssertionError').fingerprint).toEqual(computeFingerprint({ ...nothing, test }).fingerprint);
    expect(of('AssertionError').generic).toBe(true);
    expect(of('NullPointerException').generic).toBe(false);
  });

  it('does not exist without a test', () => {
    expect(silent(null, null).fingerprint.value).toBe('');
    expect(isUnknown(silent(null, null).fingerprint)).toBe(true);
    expect(isUnknown(silent(null, 'exit code 1').fingerprint)).toBe(true);
    expect(isUnknown(computeFingerprint({ ...nothing, exceptionType: 'Error' }).fingerprint)).toBe(true);
    expect(isUnknown(silent('test_a', null).fingerprint)).toBe(false);
    expect(isUnknown(silent(null, 'cannot find module left-pad').fingerprint)).toBe(false);
  });

  it.each(['Segmentation fault (core dumped)', 'Killed', 'timed out', 'exit code 137'])(
    'does not exist if only the exit is known: %s',
    (message) => {
      expect(isUnknown(silent(null, message).fingerprint)).toBe(true);
      expect(isUnknown(silent('test_a', message).fingerprint)).toBe(false);
    },
  );
});

describe('grouping failures by cause', () => {
  it('groups by fingerprint in order of appearance, generic or not', () => {
    const print = (value: string, generic = false) => ({
      fingerprint: { algorithm: 'f', version: 1, value },
      generic,
    });
    const groups = groupByCause([
      print('a'),
      print('x', true),
      print('b'),
      print('a'),
      print('x', true),
      print('y', true),
    ]);
    expect(groups.map(({ generic, failures }) => [generic, failures.length])).toEqual([
      [false, 2],
      [true, 2],
      [false, 1],
      [true, 1],
    ]);
  });
});
