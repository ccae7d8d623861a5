import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { diagnose } from '../../src/cli/setup/doctor.ts';
import { digestOfToken } from '../../src/domain/access.ts';
import { openPostgres } from '../../src/stores/database/postgres.ts';
import { createStores } from '../../src/stores/stores.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { startPostgres, withoutPostgres } from '../support/postgres.ts';
import { sampleBuild } from '../support/sample-build.ts';
import { startService, TOKEN } from '../support/service.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-shown-'));
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

const SECRET = 'whs_8Kq2nVx5RtY7bLmP3cZw9sDf';
const OTHER = 'whs_1Zr4mWq8TnB6vKcJ2xLp5yHg';

test('doctor names the build whose log showed one of our secrets, until it is rotated or its token revoked', async () => {
  await copyTestDatabase(join(FOLDER, 'database'));
  const service = await startService(FOLDER, {
    FAULTLINE_JENKINS_WEBHOOK_SECRET: SECRET,
    FAULTLINE_ANALYST: 'rules',
  });
  const ask = async (path: string, init: RequestInit = {}) =>
    await fetch(`${service.address}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${TOKEN}`, ...init.headers },
    });
  const made = await ask('/api/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ci', roles: ['ingest'] }),
  });
  const { token } = z.object({ token: z.string() }).parse(await made.json());
  const form = new FormData();
  form.set('metadata', JSON.stringify({ repository: 'shop/api', pipeline: 'nightly', number: 812 }));
  const log = `Notifying endpoint with url 'https://faultline.example/webhooks/jenkins?token=${SECRET}'\nFAULTLINE_TOKEN=${token}\nFAIL cart\n`;
  form.set('log', new Blob([log]), 'console.log');
  expect((await ask('/api/builds', { method: 'POST', body: form })).status).toBe(202);
  expect(service.errors()).toContain('a log shows a webhook secret or token of this service');
  await ask('/api/tokens/ci', { method: 'DELETE' });
  await service.kill('SIGTERM');

  const findShown = async (secret: string) => {
    const findings = await diagnose(FOLDER, {
      FAULTLINE_JENKINS_WEBHOOK_SECRET: secret,
      FAULTLINE_ANALYST: 'rules',
      FAULTLINE_CODE_HOST: 'none',
    });
    return findings.filter(({ name }) => name === 'secrets in logs');
  };
  const found = await findShown(`${OTHER},${SECRET}`);
  expect(found).toEqual([
    {
      name: 'secrets in logs',
      state: 'wrong',
      says: 'the log of shop/api nightly #812 shows a value of FAULTLINE_JENKINS_WEBHOOK_SECRET at its CI: rotate it',
      remedy: expect.stringContaining('set NEW,OLD in FAULTLINE_JENKINS_WEBHOOK_SECRET'),
    },
  ]);
  expect(await findShown(OTHER)).toEqual([]);
}, 300_000);

test.skipIf(withoutPostgres)(
  'doctor also checks a PostgreSQL server, and names exposed tokens that are still valid',
  async () => {
    const postgres = await startPostgres();
    const url = await postgres.createMigrated();
    const database = await openPostgres({ url, poolSize: 1 });
    const stores = createStores(database, { now: Date.now });
    const { build } = await stores.builds.upsert(
      sampleBuild({ repository: 'shop/api', pipeline: 'ci', number: '7' }),
    );
    const kept = { roles: ['ingest'] as const, repositories: null, createdBy: 'admin', expiresInDays: null };
    await stores.tokens.keep({ ...kept, name: 'uploads', digest: digestOfToken('one') });
    await stores.tokens.keep({ ...kept, name: 'revoked', digest: digestOfToken('two') });
    await stores.tokens.revoke('revoked', 'admin');
    await stores.builds.saveShownSecrets(build.id, ['one', 'two', 'nobody made this'].map(digestOfToken));
    await database.close();

    const findings = await diagnose(FOLDER, {
      FAULTLINE_DATABASE_URL: url,
      FAULTLINE_ANALYST: 'rules',
      FAULTLINE_REDIS_URL: 'redis://127.0.0.1:9',
    });
    await postgres.dispose();

    const [found, ...others] = findings.filter(({ name }) => name === 'secrets in logs');
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      state: 'wrong',
      says: expect.stringContaining('#7 shows the token uploads'),
      remedy: expect.stringContaining('faultline token revoke uploads'),
    });
  },
);
