import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { link, mkdir, readFile, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { isAlive } from '../../lib/is-alive.ts';
import { parseJson } from '../../lib/text.ts';

const BEAT_MS = 1000;
/**
 * The number of milliseconds without a heartbeat after which a holder in another container or on another
 * machine counts as dead. It is long, because the database runs in the holder's process and a long statement
 * blocks its event loop.
 */
const SILENT_MS = 15 * BEAT_MS;

const Holder = z.object({
  pid: z.int(),
  started: z.string(),
  space: z.string(),
  token: z.string(),
  since: z.string(),
});
type Holder = z.infer<typeof Holder>;

export interface DirectoryLock {
  /** The directory's real path. */
  readonly directory: string;
  release(): Promise<void>;
}

/**
 * Locks a directory for this process with a file next to it (`<directory>.lock`). The lock of a dead process
 * is taken over; exactly one of several concurrent processes succeeds. Throws `locked` with the holder's PID:
 * at once if the holder runs in the same process space, otherwise after watching its heartbeat for up to
 * `silentMs`.
 */
export async function lockDirectory(directory: string, silentMs: number = SILENT_MS): Promise<DirectoryLock> {
  const path = await createDirectory(directory);
  const lock = `${path}.lock`;
  const me: Holder = {
    pid: process.pid,
    started: processStart(process.pid) ?? '',
    space: processSpace(),
    token: randomUUID(),
    since: new Date().toISOString(),
  };
  await acquire(lock, me, { directory: path, silentMs });
  const beat = setInterval(() => {
    utimes(lock, new Date(), new Date()).catch(() => undefined);
  }, BEAT_MS).unref();
  return {
    directory: path,
    release: async () => {
      clearInterval(beat);
      if ((await readHolder(lock))?.token === me.token) await rm(lock, { force: true });
    },
  };
}

async function createDirectory(directory: string): Promise<string> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return await realpath(directory);
  } catch (error) {
    throw new TriageError(
      'storage-failed',
      `The data directory ${directory} cannot be created. Check its path and permissions.`,
      {
        cause: error,
      },
    );
  }
}

interface Terms {
  readonly directory: string;
  readonly silentMs: number;
}

async function acquire(lock: string, me: Holder, terms: Terms): Promise<void> {
  for (;;) {
    if (await createLock(lock, me)) return;
    const holder = await readHolder(lock);
    if (holder === null) continue;
    if (await isHeld(lock, holder, terms.silentMs)) throw createLockedError(terms.directory, holder);
    await takeOver(lock, holder, me, terms);
  }
}

/**
 * Removes the lock of a dead holder. A slow process must not delete the new lock of another one, so the
 * removal is guarded by a second lock, named after the dead holder, under which the holder is read again.
 */
async function takeOver(lock: string, dead: Holder, me: Holder, terms: Terms): Promise<void> {
  const guard = `${lock}.${dead.token}`;
  await acquire(guard, me, terms);
  try {
    if ((await readHolder(lock))?.token !== dead.token) return;
    await rm(lock, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

/**
 * Creates the lock file. Returns false if it already exists. The file is linked into place with its full
 * content, so no process ever reads a half-written lock.
 */
async function createLock(lock: string, me: Holder): Promise<boolean> {
  const draft = `${lock}.${me.token}.draft`;
  try {
    await writeFile(draft, JSON.stringify(me), { mode: 0o600 });
    await link(draft, lock);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw new TriageError(
      'storage-failed',
      `The lock file ${lock} cannot be written. Check the folder's permissions.`,
      { cause: error },
    );
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Reads the holder of a lock; returns null if there is no lock. A file that cannot be parsed counts as held
 * by an unknown process and is judged by its heartbeat.
 */
async function readHolder(lock: string): Promise<Holder | null> {
  let text: string;
  try {
    text = await readFile(lock, 'utf8');
  } catch {
    return null;
  }
  return (
    Holder.safeParse(parseJson(text)).data ?? {
      pid: 0,
      started: '',
      space: '',
      token: 'unreadable',
      since: '',
    }
  );
}

async function isHeld(lock: string, holder: Holder, silentMs: number): Promise<boolean> {
  if (holder.space === processSpace()) return processStart(holder.pid) === holder.started;
  const before = await findTouchedAt(lock);
  const pause = Math.min(BEAT_MS, silentMs / 5);
  for (let waited = 0; waited < silentMs; waited += pause) {
    await delay(pause);
    if ((await findTouchedAt(lock)) !== before) return true;
  }
  return false;
}

async function findTouchedAt(lock: string): Promise<number | null> {
  const found = await stat(lock).catch(() => null);
  return found === null ? null : found.mtimeMs;
}

function createLockedError(directory: string, holder: Holder): TriageError {
  const who = holder.pid === process.pid ? `this process (PID ${holder.pid})` : `process ${holder.pid}`;
  return new TriageError(
    'locked',
    `The data directory ${directory} has been in use by ${who} since ${holder.since}. ` +
      'Stop that process, or start this one with another data directory: ' +
      'two processes on one directory would lose data.',
    { details: { pid: holder.pid, directory } },
  );
}

/**
 * Returns the start time of a process as text, which differs if another process reuses the same id later.
 * Returns null if no process with this id is alive.
 */
export function processStart(pid: number): string | null {
  if (process.platform === 'linux') return readLinuxStart(pid);
  if (!isAlive(pid)) return null;
  if (process.platform === 'win32') return 'alive';
  const listing = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 5000 });
  return listing.status === 0 ? listing.stdout.trim() : 'alive';
}

/**
 * Returns an identifier of the space in which process ids are unique: one boot of one machine and, on Linux,
 * one PID namespace (container).
 */
export function processSpace(): string {
  return [
    hostname(),
    readOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    readOr(() => readlinkSync('/proc/self/ns/pid')),
  ]
    .map((part) => part.trim())
    .join(' ');
}

/**
 * Reads field 22 of /proc/PID/stat: the start time in clock ticks since boot. The name in field 2 may contain
 * spaces and brackets. Returns null for a zombie, which counts as dead.
 */
function readLinuxStart(pid: number): string | null {
  const stat = readOr(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  return startTicks === undefined || state === 'Z' || state === 'X' ? null : startTicks;
}

function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
