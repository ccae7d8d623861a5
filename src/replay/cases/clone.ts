import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TriageError } from '../../domain/errors.ts';

const TIME_LIMIT_MS = 60_000;

export interface OpenedClone {
  readonly folder: string;
  close(): Promise<void>;
}

/**
 * A clone that a case names: a folder as it stands, or a tar archive (plain or compressed) of one, unpacked into a temporary folder until
 * it is closed. Throws `not-found`, and `invalid-input` for what is no archive of one folder.
 */
export async function openClone(path: string, signal: AbortSignal): Promise<OpenedClone> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new TriageError('not-found', `${path} is missing or cannot be read.`, { cause });
  });
  if (found.isDirectory()) return { folder: path, close: async () => undefined };
  const folder = await mkdtemp(join(tmpdir(), 'faultline-clone-'));
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    await promisify(execFile)('tar', ['-xf', path, '-C', folder, '--no-same-owner'], { timeout: TIME_LIMIT_MS, signal });
    const names = await readdir(folder);
    // What `tar -C clone.git .` packs has no folder of its own.
    const inside = names.length === 1 && names[0] !== undefined ? join(folder, names[0]) : folder;
    return { folder: inside, close };
  } catch (cause) {
    await close();
    if (signal.aborted) throw cause;
    throw new TriageError('invalid-input', `${path} is not a tar archive of a clone.`, { cause });
  }
}
