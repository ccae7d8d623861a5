import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareDataDirectory } from '../../src/cli/settings.ts';
import { runFaultline } from './faultline.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-data-'));

describe('the data directory', () => {
  it('is created with its parent folders, accessible to the owner only, and empty', () => {
    const made = join(FOLDER, 'a/b/data');
    prepareDataDirectory(made);
    expect(statSync(made).mode & 0o777).toBe(0o700);
    expect(readdirSync(made)).toEqual([]);
  });

  it('keeps its present mode', () => {
    const known = join(FOLDER, 'known');
    mkdirSync(known);
    chmodSync(known, 0o755);
    prepareDataDirectory(known);
    expect(statSync(known).mode & 0o777).toBe(0o755);
  });

  type Case = [name: string, path: string, reason: string];
  // Permissions stop nobody who is root.
  const unwritable: Case[] =
    process.getuid?.() === 0
      ? []
      : [['below a read-only folder', join(readOnly(), 'data'), 'you do not have permission']];
  const wrong: Case[] = [
    ...unwritable,
    ['below a file', join(writeFileAt('file'), 'data'), 'a file is in the way'],
    ['that is a file', writeFileAt('other-file'), 'a file is in the way'],
    ['behind links in a circle', createCircle(), 'its symbolic links form a loop'],
    ['with an endless name', join(FOLDER, 'n'.repeat(300)), 'the name is too long'],
  ];
  it.each(wrong)('is refused with the reason: %s', (_name, path, reason) => {
    expect(() => prepareDataDirectory(path)).toThrow(
      expect.objectContaining({ code: 'invalid-config', message: expect.stringContaining(reason) }),
    );
  });
});

describe('a command with an unusable data directory', () => {
  const FILE = join(writeFileAt('in-the-way'), 'data');
  // Folders under /proc answer "not found" to whoever makes one; other systems have none.
  const PROC = existsSync('/proc/self') ? ['/proc/faultline', '/proc/self/a/b'] : [FILE, FILE];
  const CASES = [
    ['serve', FILE],
    ['migrate', PROC[0]],
    ['worker', PROC[1]],
    ['knowledge load', FILE],
  ] as const;

  it.each(CASES)('%s --data %s is refused with a message', async (command, place = FILE) => {
    const ended = await runFaultline([...command.split(' '), '--data', place]);
    expect(ended).toMatchObject({ code: 2, signal: null, stdout: '' });
    expect(ended.stderr).toMatch(
      /^error: The data directory .* cannot be used: .*\. Choose another with --data or FAULTLINE_DATA_DIR\.\n$/,
    );
  });

  it('is reported by doctor among its findings', async () => {
    const ended = await runFaultline(['doctor', '--data', FILE]);
    expect(ended.code).toBe(4);
    expect(ended.stdout).toMatch(/^wrong {2}data directory .* a file is in the way/m);
  });
});

function writeFileAt(name: string): string {
  const path = join(FOLDER, name);
  writeFileSync(path, '');
  return path;
}

function createCircle(): string {
  const path = join(FOLDER, 'circle');
  symlinkSync(path, path);
  return path;
}

function readOnly(): string {
  const path = join(FOLDER, 'read-only');
  mkdirSync(path, { mode: 0o500 });
  return path;
}
