import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './gate.ts';

/** A server of this process in a temporary directory. Its address never changes. */
export interface OwnServer {
  /** The URL of the database `postgres`, as superuser. */
  readonly url: string;
  /**
   * Stops the server. `fast` rolls back transactions and writes everything. `immediate` resembles a crash.
   */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  dispose(): Promise<void>;
}

/**
 * Returns the folder of the newest server of this machine that has pgvector and pg_trgm;
 * scripts/install-postgres installs one. Returns null if there is none.
 */
export function findBinaries(): string | null {
  const folders = ['/usr/local/lib', process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')]
    .map((base) => join(base, 'faultline-test/postgres-18/embedded_postgres/pginstall'))
    .map((root) => ({ bin: join(root, 'bin'), extensions: join(root, 'share/extension') }));
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  for (const version of versions) {
    folders.push({
      bin: join(debian, version, 'bin'),
      extensions: join('/usr/share/postgresql', version, 'extension'),
    });
  }
  const whole = folders.find(
    ({ bin, extensions }) =>
      ['postgres', 'initdb'].every((name) => existsSync(join(bin, name))) &&
      ['vector.control', 'pg_trgm.control'].every((name) => existsSync(join(extensions, name))),
  );
  return whole?.bin ?? null;
}

/** Starts a server. `settings` have the form `max_connections=20`. */
export async function startBinaries(bin: string, settings: readonly string[]): Promise<OwnServer> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-postgres-'));
  const owner = findServerOwner();
  if (owner !== null) await chown(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    {
      ...owner,
      stdio: 'ignore',
    },
  );
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  // fsync has no influence on what a crash of the server loses. A crash of the machine is not simulated.
  const options = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'fsync=off',
    ...settings,
  ].flatMap((each) => ['-c', each]);
  let server: ChildProcess | null = null;
  const start = async () => {
    server = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...options], {
      ...owner,
      stdio: 'ignore',
    });
    await waitUntilItAnswers(url);
  };
  const stop = async (mode: 'fast' | 'immediate') => {
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    const closed = once(server, 'close');
    server.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await closed;
  };
  const clean = () => {
    server?.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', clean);
  const dispose = async () => {
    await stop('immediate');
    await rm(folder, { recursive: true, force: true });
    process.off('exit', clean);
  };
  await start();
  return { url, stop, start, dispose };
}

/**
 * Returns the user who runs the server. PostgreSQL refuses to run as root, so this is its own user, or
 * an unprivileged one.
 */
function findServerOwner(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  for (const user of ['postgres', 'nobody']) {
    try {
      const number = (flag: string) =>
        Number(execFileSync('id', [flag, user], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: number('-u'), gid: number('-g') };
    } catch {}
  }
  return null;
}

async function waitUntilItAnswers(url: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await delay(50);
    }
  }
  throw new Error('The PostgreSQL server did not start');
}
