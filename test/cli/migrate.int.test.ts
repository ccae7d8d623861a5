import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

import { openPglite } from '../../src/stores/database/pglite.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { THOROUGH } from '../support/thorough.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');

it('migrate creates the schema in an empty directory, and prints what was new', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-migrate-'));
  const args = [join(ROOT, 'src/cli/main.ts'), 'migrate', '--data', folder, '--json'];
  const { stdout } = await run(process.execPath, args, { timeout: 120_000 });
  const files = (await readdir(join(ROOT, 'migrations')))
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.replace('.sql', ''));

  expect(JSON.parse(stdout)).toEqual({ ok: true, applied: files.toSorted() });
  await rm(folder, { recursive: true, force: true });
});

it('migrate, serve and doctor name a migration that was applied in another form, and migrate repairs it', {
  timeout: 400_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-migrate-'));
  const dataDir = await copyTestDatabase(join(folder, 'database'));
  const database = await openPglite({ dataDir });
  await database.query(`update schema_migrations set checksum = repeat('0', 64) where name = '0046_health'`);
  await database.query('alter table builds drop column queued_seconds');
  await database.close();
  const faultline = (...args: string[]) =>
    run(process.execPath, [join(ROOT, 'src/cli/main.ts'), ...args, '--data', folder], {
      timeout: 120_000,
    }).then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      ({ code, stdout, stderr }) => ({ code, said: `${stdout}${stderr}` }),
    );
  const refusal = /another form of 0046_health \(checksum 000000000000.*"faultline migrate --repair"/s;

  const refused = THOROUGH ? [['migrate'], ['serve', '--port', '0'], ['doctor']] : [['migrate']];
  for (const args of refused) {
    const { code, said } = await faultline(...args);
    expect(said).toMatch(refusal);
    expect(code).not.toBe(0);
  }
  expect(await faultline('migrate', '--repair')).toMatchObject({
    code: 0,
    said: expect.stringContaining('Repaired: column builds.queued_seconds, index builds_timed.'),
  });
  expect(await faultline('migrate')).toEqual({ code: 0, said: 'The schema is up to date.\n' });
  await rm(folder, { recursive: true, force: true });
});
