import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { requireToken, requireWebhookSecrets } from '../../src/cli/serve-command.ts';
import { fakeTokens } from '../support/fake-tokens.ts';
import { TEST_CONFIG, withSecrets } from '../support/http-deps.ts';
import { faultline } from './faultline.ts';

const shared = { driver: 'postgres' } as const;

test('T13: a shared database needs a webhook secret that is configured; an embedded one makes its own', () => {
  expect(() => requireWebhookSecrets({ database: shared, providers: withSecrets({}) })).toThrow('Set FAULTLINE_GITHUB_WEBHOOK_SECRET');
  for (const provider of ['github', 'jenkins'])
    expect(() => requireWebhookSecrets({ database: shared, providers: withSecrets({ [provider]: ['one-secret'] }) })).not.toThrow();
  expect(() => requireWebhookSecrets({ database: { driver: 'pglite' }, providers: withSecrets({}) })).not.toThrow();
});

test('T13: without a token anywhere nothing is served, and the sentence says how to make one', async () => {
  const tokens = fakeTokens();
  tokens.give({ roles: ['read'] });
  await expect(requireToken({ auth: { tokens: [] } }, tokens)).rejects.toThrow('faultline token make --name ann --role admin');
  await expect(requireToken(TEST_CONFIG, tokens)).resolves.toBeUndefined();
  tokens.give({ roles: ['admin'] });
  await expect(requireToken({ auth: { tokens: [] } }, tokens)).resolves.toBeUndefined();
});

test('T13: serve says so before it opens anything', async () => {
  const env = {
    FAULTLINE_PRESET: 'server',
    FAULTLINE_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    FAULTLINE_REDIS_URL: 'redis://127.0.0.1:1',
    FAULTLINE_MONGODB_URL: 'mongodb://127.0.0.1:1',
  };
  const refused = await faultline(['serve', '--data', tmpdir()], { env });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('No webhook secret is configured')]);
});
