import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');

it('migrates an empty directory, says what was new, and has nothing to do the second time', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-migrate-'));
  const migrate = () => run(process.execPath, [join(ROOT, 'src/cli/main.ts'), 'migrate', '--data', folder, '--json'], { timeout: 60_000 });
  const files = (await readdir(join(ROOT, 'migrations'))).filter((name) => name.endsWith('.sql')).map((name) => name.replace('.sql', ''));

  expect(JSON.parse((await migrate()).stdout)).toEqual({ ok: true, applied: files.toSorted() });
  expect(JSON.parse((await migrate()).stdout)).toEqual({ ok: true, applied: [] });
  await rm(folder, { recursive: true, force: true });
});
