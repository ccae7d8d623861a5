import { rmSync } from 'node:fs';
import { chmod, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage } from '../domain/errors.ts';
import { cleanAtExit } from '../lib/at-exit.ts';

export interface TemporaryFolder {
  readonly path: string;
  /** Removes the folder. Returns the part that cannot be removed, with the reason, or null. Never throws. */
  remove(): Promise<string | null>;
}

/** Creates a folder in the temporary directory. The folder is also removed if the process exits early. */
export async function createTemporaryFolder(name: string): Promise<TemporaryFolder> {
  // On macOS, the temporary directory is behind a link, but git reports paths without links.
  const path = await mkdtemp(join(await realpath(tmpdir()), name));
  const keep = cleanAtExit(() => removeNow(path));
  return {
    path,
    async remove() {
      const left = await removeFolder(path);
      keep();
      return left;
    },
  };
}

/** Runs a function with a temporary folder that is removed afterwards. */
export async function withTemporaryFolder<Value>(
  name: string,
  work: (folder: string) => Promise<Value>,
): Promise<Value> {
  const folder = await createTemporaryFolder(name);
  try {
    return await work(folder.path);
  } finally {
    await folder.remove();
  }
}

/**
 * Removes a folder with all its contents, including read-only files, such as those of Go's module cache.
 * Follows no links. Never throws.
 */
export async function removeFolder(folder: string): Promise<string | null> {
  const remove = async () => {
    try {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      return null;
    } catch (error) {
      return getErrorMessage(error);
    }
  };
  if ((await remove()) === null) return null;
  await makeWritable(folder);
  const why = await remove();
  return why === null ? null : `${folder} could not be removed (${why}): remove it yourself.`;
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined);
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
  }
}

function removeNow(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The process is ending, so the error cannot be reported to anyone.
  }
}
