import { expect, test } from 'vitest';
import { digestOfToken, isInScope, isTokenForm, makeToken, NewToken } from '../../src/domain/access.ts';
import { createMasker } from '../../src/log/mask/mask.ts';

test('a token has a prefix, 256 random bits and a checksum that detects a changed character', () => {
  const tokens = Array.from({ length: 500 }, makeToken);
  expect(new Set(tokens).size).toBe(500);
  for (const token of tokens) {
    expect(token).toMatch(/^flt_[0-9A-Za-z]{49}$/);
    expect(isTokenForm(token)).toBe(true);
    const changed = `${token.slice(0, 20)}${token[20] === 'a' ? 'b' : 'a'}${token.slice(21)}`;
    expect(isTokenForm(changed)).toBe(false);
  }
  for (const other of ['', 'flt_', `flt_${'0'.repeat(49)}1`, 'ghp_0123', ` ${tokens[0]}`])
    expect(isTokenForm(other)).toBe(false);
});

test('the stored form of a token does not reveal it', () => {
  const token = makeToken();
  expect(digestOfToken(token)).toMatch(/^[0-9a-f]{64}$/);
  expect(digestOfToken(token)).toBe(digestOfToken(token));
});

test('a token in a log is masked', async () => {
  const token = makeToken();
  const { text } = await createMasker().mask(
    `curl -H "x: ${token}" https://faultline.example.com\nbare ${token}`,
  );
  expect(text).not.toContain(token.slice(4));
});

test('a scope is a repository or all repositories of an owner, not everything with the same beginning', () => {
  const scope = ['acme/shop', 'team/*'];
  const inside = ['acme/shop', 'team/a', 'team/b/c'];
  const outside = ['acme/shop2', 'acme/sho', 'ACME/shop', 'teams/a', 'team', 'xteam/a', ''];
  expect(inside.map((one) => isInScope(scope, one))).toEqual(inside.map(() => true));
  expect(outside.map((one) => isInScope(scope, one))).toEqual(outside.map(() => false));
  expect([isInScope(null, 'x/y'), isInScope(undefined, 'x/y'), isInScope([], 'x/y')]).toEqual([
    true,
    true,
    false,
  ]);
});

test('the name, roles and scope of a new token are checked', () => {
  const wanted = (change: object) => NewToken.safeParse({ name: 'ci', roles: ['read'], ...change }).success;
  expect([wanted({}), wanted({ repositories: ['a/b', 'c/*'] }), wanted({ expiresInDays: 90 })]).toEqual([
    true,
    true,
    true,
  ]);
  for (const wrong of [
    { name: '' },
    { name: 'a b' },
    { name: 'x'.repeat(65) },
    { roles: [] },
    { roles: ['owner'] },
    { repositories: [] },
    { repositories: ['*'] },
    { repositories: ['/*'] },
    { repositories: ['a/*/b'] },
    { repositories: ['a*/b'] },
    { expiresInDays: 0 },
    { expiresInDays: 1.5 },
  ])
    expect([wrong, wanted(wrong)]).toEqual([wrong, false]);
});
