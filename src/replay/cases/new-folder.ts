import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getErrorReason, TriageError } from '../../domain/errors.ts';

/** The number of characters that are buffered before they are written. */
const BUFFERED = 256 * 1024;

/** The file mode of new folders. Only the owner has access, because logs are confidential. */
const PRIVATE = 0o700;

/**
 * Creates a folder under a temporary name next to its final path, so that it appears completely or not at
 * all. Its methods throw `storage-failed` if writing fails. Throws `conflict` if the path already exists, and
 * `not-found` if its parent does not.
 */
export async function beginFolder(path: string) {
  if (existsSync(path)) throw createExistsError(path);
  if (!existsSync(dirname(path)))
    throw new TriageError('not-found', `There is no folder ${dirname(path)} to write into.`);
  const partial = `${path}.partial-${process.pid}`;
  const guarded = <T>(work: Promise<T>) =>
    work.catch((cause: unknown) => Promise.reject(createStorageError(path, cause)));
  const pending = new Map<string, string>();
  const handles = new Map<string, Awaited<ReturnType<typeof open>>>();
  const getHandle = async (name: string) => {
    const handle = handles.get(name) ?? (await open(join(partial, name), 'a'));
    handles.set(name, handle);
    return handle;
  };
  const flush = async (name: string) => {
    const text = pending.get(name) ?? '';
    pending.set(name, '');
    await (await getHandle(name)).appendFile(text);
  };
  const flushAll = async () => {
    for (const name of pending.keys()) await flush(name);
    for (const handle of handles.values()) await handle.sync();
  };
  const close = async () => {
    for (const handle of handles.values()) await handle.close();
    handles.clear();
  };
  await guarded(rm(partial, { recursive: true, force: true }).then(() => mkdir(partial, { mode: PRIVATE })));
  return {
    write: async (name: string, bytes: Uint8Array): Promise<void> => {
      await guarded(
        mkdir(dirname(join(partial, name)), { recursive: true }).then(() =>
          writeFile(join(partial, name), bytes),
        ),
      );
    },
    /** Appends to a file, in the order of the calls. */
    append: async (name: string, text: string): Promise<void> => {
      const buffered = (pending.get(name) ?? '') + text;
      pending.set(name, buffered);
      if (buffered.length >= BUFFERED) await guarded(flush(name));
    },
    /** Syncs the folder to disk and moves it to its final path. */
    commit: async () => {
      await guarded(flushAll().then(close));
      await rename(partial, path).catch((cause: unknown) =>
        Promise.reject(existsSync(path) ? createExistsError(path) : createStorageError(path, cause)),
      );
    },
    /** Deletes the folder. */
    discard: async () => {
      await close().catch(() => undefined);
      await rm(partial, { recursive: true, force: true });
    },
  };
}

export type NewFolder = Awaited<ReturnType<typeof beginFolder>>;

function createExistsError(path: string): TriageError {
  return new TriageError(
    'conflict',
    `${path} already exists and was not changed. Choose another folder, or delete it first.`,
  );
}

/**
 * Creates an error with the file system's reason, for people. The caller may try again after making room,
 * because nothing is left behind.
 */
export function createStorageError(path: string, cause: unknown): TriageError {
  if (cause instanceof TriageError) return cause;
  return new TriageError(
    'storage-failed',
    `${path} cannot be written: ${getErrorReason(cause)}. Nothing was left behind.`,
    { cause },
  );
}
