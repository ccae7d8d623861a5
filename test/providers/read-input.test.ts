import { describe, expect, test } from 'vitest';
import {
  attemptNumber,
  createWebUrlSchema,
  pullRequestNumber,
  toUtc,
} from '../../src/providers/read-input.ts';

describe('toUtc', () => {
  test.each([
    ['2026-03-01T12:00:00+02:00', '2026-03-01T10:00:00.000Z'],
    [0, '1970-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ])('reads %s', (time, utc) => {
    expect(toUtc(time)).toBe(utc);
  });

  // PostgreSQL refuses each of the years outside 1 to 9999 as JavaScript writes it.
  test.each([
    'yesterday',
    '',
    null,
    undefined,
    Number.NaN,
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+05:00',
    8_640_000_000_000_000,
    1e300,
  ])('returns null for %s', (time) => {
    expect(toUtc(time)).toBeNull();
  });
});

test.each([
  [2_147_483_647, true],
  [2_147_483_648, false],
  [0, false],
  [1.5, false],
])('pull request %d is valid: %s', (number, known) => {
  expect(pullRequestNumber().safeParse(number).success).toBe(known);
});

test.each([
  [undefined, true],
  [10_000, true],
  [10_001, false],
  [0, false],
])('attempt %s is valid: %s', (number, known) => {
  expect(attemptNumber().safeParse(number).success).toBe(known);
});

describe('webAddress', () => {
  test.each(['https://ci.example.com/job/a/1/', 'http://127.0.0.1:8080/x?y=1#z', 'HTTPS://CI.EXAMPLE.COM/'])(
    'accepts %s',
    (address) => {
      expect(createWebUrlSchema().parse(address)).toBe(address);
    },
  );

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ssh://git@host/a',
    'ci.example.com',
    '',
  ])('refuses %s', (address) => {
    expect(createWebUrlSchema().safeParse(address).error?.issues[0]?.message).toBe(
      'must be an http or https address',
    );
  });

  test('removes credentials', () => {
    expect(createWebUrlSchema().parse('https://ci:hunter2@ci.example.com/job/a/1/')).toBe(
      'https://ci.example.com/job/a/1/',
    );
    expect(createWebUrlSchema().parse('https://ci.example.com/job/a/1/?token=9f8Gh2kLmQ77zXyW')).toBe(
      'https://ci.example.com/job/a/1/?token=***',
    );
  });

  test('removes characters that the database refuses', () => {
    expect(createWebUrlSchema().parse('http://a.example/\u0000x\ud800')).toBe(
      'http://a.example/\ufffdx\ufffd',
    );
  });
});
