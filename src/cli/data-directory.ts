import { mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, TriageError } from '../domain/errors.ts';

/**
 * Makes the data directory where it is missing, for its owner only, and sees that it can be written. Throws `invalid-config`
 * with a sentence, at once. A directory that is there keeps its mode: it may be somebody's home.
 */
export function prepareDataDirectory(directory: string): void {
  try {
    makeFolders(directory);
    rmdirSync(mkdtempSync(join(directory, '.writable-')));
  } catch (cause) {
    const sentence = `The data directory ${directory} cannot be used: ${reasonOf(cause)}.`;
    throw new TriageError('invalid-config', `${sentence} Choose another with --data or FAULTLINE_DATA_DIR.`, { cause });
  }
}

/**
 * Not `mkdir` with `recursive`: where a folder refuses new ones with "not found", as those under /proc do, Node tries again
 * for ever and cannot be interrupted.
 */
function makeFolders(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (dirname(path) !== path) makeFolders(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it since.
    if (codeOf(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'you do not have permission to write there',
  EPERM: 'you do not have permission to write there',
  EROFS: 'the file system is read-only',
  ENOENT: 'a folder cannot be created there',
  ENOTDIR: 'a file is in the way',
  EEXIST: 'a file is in the way',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links form a loop',
};

function reasonOf(error: unknown): string {
  return REASONS[codeOf(error)] ?? messageOf(error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
