import { expect, test } from 'vitest';
import { requireToken, takesUploadsOnly } from '../../src/cli/serve/serve-command.ts';
import { createFakeTokens } from '../support/fake-tokens.ts';
import { TEST_CONFIG, withSecrets } from '../support/http-deps.ts';

const shared = { driver: 'postgres' } as const;

test('T13: without a webhook secret, a shared installation accepts only uploads; an embedded one creates a secret', () => {
  expect(takesUploadsOnly({ database: shared, providers: withSecrets({}) })).toBe(true);
  for (const provider of ['github', 'jenkins'])
    expect(
      takesUploadsOnly({ database: shared, providers: withSecrets({ [provider]: ['one-secret'] }) }),
    ).toBe(false);
  expect(takesUploadsOnly({ database: { driver: 'pglite' }, providers: withSecrets({}) })).toBe(false);
});

test('T13: without any token nothing is served, and the error says how to create one', async () => {
  const tokens = createFakeTokens();
  tokens.give({ roles: ['read'] });
  await expect(requireToken({ auth: { tokens: [] } }, tokens)).rejects.toThrow(
    'faultline token make --name ann --role admin',
  );
  await expect(requireToken(TEST_CONFIG, tokens)).resolves.toBeUndefined();
  tokens.give({ roles: ['admin'] });
  await expect(requireToken({ auth: { tokens: [] } }, tokens)).resolves.toBeUndefined();
});
