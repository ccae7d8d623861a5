import { describe, expect, it } from 'vitest';
import { groupByCause } from '../../src/log/failures.ts';
import { FINGERPRINT_ALGORITHM, FINGERPRINT_VERSION, fingerprintOf, isGenericMessage } from '../../src/log/fingerprint.ts';

const nothing = { test: null, exceptionType: null, frames: [], message: null };
const printOf = (message: string, test: string | null = null) => fingerprintOf({ ...nothing, test, message }).fingerprint.value;

describe('fingerprintOf', () => {
  it('names its algorithm and version', () => {
    expect(fingerprintOf(nothing).fingerprint).toMatchObject({ algorithm: FINGERPRINT_ALGORITHM, version: FINGERPRINT_VERSION });
  });

  it.each([
    ['times', 'failed at 2024-01-02T03:04:05Z', 'failed at 2025-11-12T13:14:15Z'],
    ['ports and addresses', 'connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 10.0.0.7:5433'],
    ['durations', 'took 12.5 s to answer', 'took 7 s to answer'],
    ['hexadecimal ids', 'object 0x7ffdeadbeef is gone', 'object 0x1234567890 is gone'],
    ['UUIDs', 'no job 123e4567-e89b-12d3-a456-426614174000', 'no job 00000000-1111-2222-3333-444444444444'],
    ['path prefixes', 'cannot open /home/runner/work/a/a/src/x.ts', 'cannot open /builds/group/a/src/x.ts'],
    ['secrets', 'bad token ***', 'bad token ****'],
  ])('is the same whatever the %s', (_, one, other) => {
    expect(printOf(one)).toBe(printOf(other));
  });

  it('differs by test, by small numbers in its name, and by message', () => {
    expect(
      new Set([printOf('x is bad', 'case 3'), printOf('x is bad', 'case 4'), printOf('y is bad', 'case 3'), printOf('x is bad')]).size,
    ).toBe(4);
  });

  it.each([
    ['HTTP statuses', 'GET /rates failed with status 502', 'GET /rates failed with status 404'],
    ['HTTP reasons', '500 Internal Server Error at the depot', '503 Internal Server Error at the depot'],
    ["npm's codes", 'npm error code E401 for the depot', 'npm error code E503 for the depot'],
    ['exit codes', 'worker of the depot died with exit code 137', 'worker of the depot died with exit code 1'],
  ])('tells different %s apart', (_, one, other) => {
    expect(printOf(one)).not.toBe(printOf(other));
    expect(printOf(one, 'test_a')).not.toBe(printOf(other, 'test_a'));
  });

  it('is generic where it rests on the name of a test alone', () => {
    expect(fingerprintOf({ ...nothing, test: 'test_a' }).generic).toBe(true);
    expect(fingerprintOf({ ...nothing, test: 'test_a', message: 'exit code 1' }).generic).toBe(true);
    expect(fingerprintOf({ ...nothing, test: 'test_a', message: 'the scale is off' }).generic).toBe(false);
  });

  it('knows an exception by its deepest own frame, not by the line', () => {
    const frames = (file: string, line: number) => [
      { file: 'node_modules/x.js', line: 1, function: 'lib', own: false },
      { file, line, function: 'load', own: true },
    ];
    const of = (file: string, line: number) => fingerprintOf({ ...nothing, exceptionType: 'TypeError', frames: frames(file, line) });
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
  ])('takes %j for generic', (message) => {
    expect(isGenericMessage(message)).toBe(true);
    expect(fingerprintOf({ ...nothing, message }).generic).toBe(true);
  });

  it.each(['TypeError: x is not a function', 'cannot find module left-pad', 'ld: cannot find -lfoo'])(
    'takes %j for specific',
    (message) => {
      expect(fingerprintOf({ ...nothing, message }).generic).toBe(false);
    },
  );
});

describe('groupByCause', () => {
  it('groups by fingerprint in order of appearance, and generic failures together', () => {
    const print = (value: string, generic = false) => ({ fingerprint: { algorithm: 'f', version: 1, value }, generic });
    const groups = groupByCause([print('a'), print('x', true), print('b'), print('a'), print('y', true)]);
    expect(groups.map(({ generic, failures }) => [generic, failures.length])).toEqual([
      [false, 2],
      [true, 2],
      [false, 1],
    ]);
  });
});
