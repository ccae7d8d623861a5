import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isTokenForm } from '../../src/domain/access.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { startService, TOKEN } from '../support/service.ts';
import { runFaultline } from './faultline.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-token-'));
  await copyTestDatabase(join(folder, 'database'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const token = (...args: string[]) => runFaultline(['token', ...args, '--data', folder]);

it('token creates, lists and revokes tokens in a data directory that no service uses; a service accepts them', async () => {
  const made = await token(
    'make',
    '--name',
    'ci',
    '--role',
    'ingest',
    'read',
    '--expires',
    '90d',
    '--repository',
    'acme/shop',
    'team/*',
  );
  expect([made.code, made.stderr]).toEqual([
    0,
    expect.stringContaining('ci  ingest+read  acme/shop,team/*  until '),
  ]);
  const text = made.stdout.trim();
  expect(isTokenForm(text)).toBe(true);
  expect((await token('make', '--name', 'ci', '--role', 'read')).stderr).toContain(
    'A token named ci already',
  );
  const admin = JSON.parse((await token('make', '--name', 'ann', '--role', 'admin', '--json')).stdout);
  expect(admin).toMatchObject({
    ok: true,
    name: 'ann',
    roles: ['admin'],
    expiresAt: null,
    repositories: null,
  });
  const listed = await token('list');
  expect(listed.stdout).toMatch(
    /ann {2}admin {2}all repositories {2}never expires {2}never used[\s\S]*ci {2}ingest\+read/,
  );
  expect(listed.stdout).not.toContain(text);

  const service = await startService(folder);
  try {
    const status = async (bearer: string, path: string) =>
      (await fetch(service.address + path, { headers: { authorization: `Bearer ${bearer}` } })).status;
    expect([
      await status(text, '/api/builds'),
      await status(text, '/api/tokens'),
      await status(admin.token, '/api/tokens'),
    ]).toEqual([200, 403, 200]);
    const locked = await token('list');
    expect([locked.code, locked.stderr]).toEqual([4, expect.stringContaining('add --url')]);
    const server = ['--url', service.address, '--token', TOKEN];
    const served = JSON.parse(
      (await token('make', '--name', 'bob', '--role', 'review', '--json', ...server)).stdout,
    );
    expect(await status(served.token, '/api/reviews')).toBe(200);
    expect((await token('make', '--name', 'admin', '--role', 'read', ...server)).stderr).toContain(
      'FAULTLINE_TOKENS',
    );
    expect((await token('revoke', 'bob', ...server)).stdout).toMatch(/^revoked {2}tok_\w+ {2}bob {2}review/);
    // In the process that revoked it, at once.
    expect(await status(served.token, '/api/reviews')).toBe(401);
    expect((await token('revoke', 'bob', ...server)).code).toBe(3);
  } finally {
    await service.kill('SIGTERM');
  }
  const used = await token('list');
  expect(used.stdout).toMatch(/ci {2}ingest\+read .*used \d{4}-/);
  expect((await token('revoke', admin.id)).stdout).toContain('revoked');
  expect(await holds(folder, text)).toBe(false);
});

it('token explains invalid arguments', async () => {
  for (const [args, sentence] of [
    [['--name', 'x'], '--role'],
    [['--name', 'a b', '--role', 'read'], 'letters'],
    [['--name', 'x', '--role', 'owner'], 'Allowed choices'],
    [['--name', 'x', '--role', 'read', '--expires', '0d'], '90d'],
    [['--name', 'x', '--role', 'read', '--repository', '*'], 'owner/*'],
    [['--name', 'x', '--role', 'admin', '--repository', 'a/b'], 'cannot be limited to repositories'],
  ] as const) {
    const refused = await token('make', ...args);
    expect([args, refused.code === 0, refused.stdout]).toEqual([args, false, '']);
    expect(refused.stderr).toContain(sentence);
  }
});

/** Whether any file of the data directory holds this text. */
async function holds(directory: string, text: string): Promise<boolean> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && (await readFile(join(entry.parentPath, entry.name))).includes(text)) return true;
  }
  return false;
}
