import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
let checkout: string;

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'faultline-check-migrations-'));
  cpSync(join(ROOT, 'migrations'), join(checkout, 'migrations'), { recursive: true });
  runGit('init', '--quiet', '--initial-branch=main');
  commit();
});
afterEach(() => rmSync(checkout, { recursive: true, force: true }));

function runGit(...args: string[]): void {
  const identity = [
    '-c',
    'user.name=ann',
    '-c',
    'user.email=ann@example.test',
    '-c',
    'core.hooksPath=/dev/null',
  ];
  const { status, stderr } = spawnSync('git', ['-C', checkout, ...identity, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

function commit(): void {
  runGit('add', '--all');
  runGit('commit', '--quiet', '--message=change');
}

function check(...options: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'scripts/parts/check/check-migrations.ts'), ...options, checkout],
    {
      encoding: 'utf8',
    },
  );
  return { status, said: stdout + stderr };
}

const file = (name: string) => join(checkout, 'migrations', name);

it('the check accepts the committed migrations, and a new one once its checksum is added', () => {
  expect(check()).toEqual({ status: 0, said: '' });
  writeFileSync(file('9000_new.sql'), 'create table new (a int);');
  expect(check()).toMatchObject({
    status: 1,
    said: expect.stringContaining('migrations/9000_new.sql is not in migrations/checksums'),
  });
  expect(check('--add')).toEqual({ status: 0, said: '' });
});

it('the check refuses a migration that was changed, even if only in a comment', () => {
  appendFileSync(file('0046_health.sql'), '-- a remark\n');
  const refusal = { status: 1, said: expect.stringContaining('migrations/0046_health.sql was changed') };
  expect(check()).toMatchObject(refusal);
  expect(check('--add')).toMatchObject(refusal);
});

it('the check refuses a migration that was changed together with its checksum, also once both are committed', () => {
  appendFileSync(file('0046_health.sql'), '-- a remark\n');
  rmSync(file('checksums'));
  const refusal = {
    status: 1,
    said: expect.stringContaining('the line of 0046_health.sql that is on main was changed'),
  };
  expect(check('--add')).toMatchObject(refusal);
  commit();
  expect(check()).toMatchObject(refusal);
});

it('the check refuses a migration that was removed or renamed', () => {
  runGit('mv', 'migrations/0046_health.sql', 'migrations/0050_health.sql');
  expect(check()).toMatchObject({
    status: 1,
    said: expect.stringContaining(
      'migrations/0046_health.sql is in migrations/checksums, and there is no such file',
    ),
  });
});

it('the check accepts changes of a migration on a branch until it is on main', () => {
  runGit('switch', '--quiet', '--create', 'branch');
  writeFileSync(file('9000_new.sql'), 'create table new (a int);');
  check('--add');
  commit();
  writeFileSync(file('9000_new.sql'), 'create table newer (a int);');
  spawnSync('sed', ['-i', '/9000_new/d', file('checksums')]);
  expect(check('--add')).toEqual({ status: 0, said: '' });
});

it('the check reports what it could not compare without history', () => {
  rmSync(join(checkout, '.git'), { recursive: true });
  expect(check()).toEqual({ status: 0, said: 'no git history: only migrations/checksums was compared\n' });
});
