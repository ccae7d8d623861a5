import { expect, test } from 'vitest';
import { createTokenHolders } from '../../src/api/token-holders.ts';
import { makeToken } from '../../src/domain/access.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { createFakeTokens } from '../support/fake-tokens.ts';

const configured = [{ name: 'root', roles: ['admin' as const], token: 'a-token-of-the-configuration' }];

function open() {
  const tokens = createFakeTokens();
  const clock = { value: 1_000_000, now: () => clock.value };
  const holders = createTokenHolders({ configured, tokens, clock, logger: silentLogger });
  return { tokens, clock, holders, find: (token: string) => holders.find(`Bearer ${token}`) };
}

test('tokens of the configuration and of the database are found, and the database is not asked on every request', async () => {
  const { tokens, find } = open();
  const token = tokens.give({ name: 'ci', roles: ['ingest'], repositories: ['acme/*'] });
  expect(await find('a-token-of-the-configuration')).toEqual({ name: 'root', roles: ['admin'] });
  expect(tokens.asked()).toBe(0);
  for (let n = 0; n < 5; n++)
    expect(await find(token)).toEqual({ name: 'ci', roles: ['ingest'], repositories: ['acme/*'] });
  expect([tokens.asked(), tokens.touched]).toEqual([1, ['tok_1']]);
});

test('a revoked token is refused at once by this process, and within ten seconds by others', async () => {
  const { tokens, clock, holders, find } = open();
  const [token, other] = [tokens.give({ name: 'ci' }), tokens.give({ name: 'other' })];
  await Promise.all([find(token), find(other)]);
  await tokens.revoke('ci', 'ann');
  clock.value += 9_999;
  await expect(find(token)).rejects.toThrow('The token "ci" was revoked.');
  await tokens.revoke('other', 'ann');
  holders.forget();
  await expect(find(other)).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a clock that is set back does not extend the life of a revoked token', async () => {
  const { tokens, clock, find } = open();
  const token = tokens.give({ name: 'ci' });
  await find(token);
  await tokens.revoke('ci', 'ann');
  clock.value -= 3_600_000;
  await expect(find(token)).rejects.toThrow('was revoked');
});

test('the use of a token is recorded once a minute', async () => {
  const { tokens, clock, find } = open();
  const token = tokens.give({ name: 'ci' });
  for (let n = 0; n < 13; n++) {
    await find(token);
    clock.value += 10_000;
  }
  expect(tokens.touched).toHaveLength(3);
});

test('text without the form of a token is not looked up in the database', async () => {
  const { tokens, find } = open();
  const real = makeToken();
  for (const guess of [
    'x'.repeat(20),
    `${real.slice(0, -1)}${real.endsWith('0') ? '1' : '0'}`,
    real.toUpperCase(),
    'flt_',
    'a'.repeat(1001),
  ])
    await expect(find(guess)).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(tokens.asked()).toBe(0);
  await expect(find(real)).rejects.toThrow('is invalid');
  expect(tokens.asked()).toBe(1);
});
