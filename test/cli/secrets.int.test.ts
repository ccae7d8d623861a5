import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { findSecrets, getSecretsFile, readOrCreateSecrets } from '../../src/cli/settings.ts';
import { runFaultlineProcess } from './faultline.ts';

const run = promisify(execFile);
const MODULE = resolve(import.meta.dirname, '../../src/cli/settings.ts');

describe('secrets of a data directory', () => {
  it('are created once, for the owner only, and no other file remains', () => {
    const folder = createFolder();
    const made = readOrCreateSecrets(folder);
    expect(readOrCreateSecrets(folder)).toEqual(made);
    expect(statSync(getSecretsFile(folder)).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['secrets.json']);
  });

  it('are the same for processes that create them at once', async () => {
    const folder = createFolder();
    const script = `const { readOrCreateSecrets } = await import(${JSON.stringify(MODULE)});
      while (Date.now() < Number(process.argv[1])) { }
      console.log(JSON.stringify(readOrCreateSecrets(process.argv[2])));`;
    const start = String(Date.now() + 1_500);
    const all = await Promise.all(
      Array.from({ length: 4 }, () =>
        run(process.execPath, ['--input-type=module', '-e', script, start, folder]),
      ),
    );
    expect(new Set(all.map(({ stdout }) => stdout.trim()))).toEqual(
      new Set([JSON.stringify(findSecrets(folder))]),
    );
    expect(readdirSync(folder)).toEqual(['secrets.json']);
  });

  it('that others can read are restricted to the owner, with one warning', () => {
    const folder = createFolder();
    const made = readOrCreateSecrets(folder);
    chmodSync(getSecretsFile(folder), 0o644);
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      expect([findSecrets(folder), findSecrets(folder)]).toEqual([made, made]);
      expect(stderr.mock.calls).toEqual([
        [expect.stringMatching(/^warning: .*secrets\.json was readable by other users/)],
      ]);
    } finally {
      stderr.mockRestore();
    }
    expect(statSync(getSecretsFile(folder)).mode & 0o777).toBe(0o600);
  });

  it('that are damaged are refused, not replaced', () => {
    const folder = createFolder();
    writeFileSync(getSecretsFile(folder), '{"token":', { mode: 0o600 });
    expect(() => readOrCreateSecrets(folder)).toThrow(/is damaged\. Delete it/);
    expect(readFileSync(getSecretsFile(folder), 'utf8')).toBe('{"token":');
  });

  it('are not created by connect in a default folder; it says what Jenkins needs', async () => {
    const folder = createFolder();
    const { code, stdout } = await runFaultlineProcess(['connect', 'jenkins'], { cwd: folder });

    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('faultlineReport()') });
    expect(stdout).toContain('pass the data directory of the service with --data');
    expect(stdout).not.toContain('--create');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('do not exist if nothing was ever served', () => {
    expect(findSecrets(join(createFolder(), 'none'))).toBeNull();
  });
});

function createFolder(): string {
  return mkdtempSync(join(tmpdir(), 'faultline-secrets-'));
}
