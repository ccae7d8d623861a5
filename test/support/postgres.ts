import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { PgDatabase } from '../../src/adapters/database/pool-database.ts';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import { MIGRATIONS_FOLDER } from '../../src/adapters/database/run-migrations.ts';

/** Address of a server on which databases may be created, e.g. `postgres://postgres@127.0.0.1:5432/postgres`. */
const ADDRESS = process.env.FAULTLINE_TEST_POSTGRES_URL ?? null;
const BINARIES = findBinaries();

/**
 * Whether the tests on a real server are left out: where there is neither an address nor a server installed. Never where
 * FAULTLINE_TEST_REQUIRE names postgres; they fail then.
 */
export const withoutPostgres =
  ADDRESS === null && BINARIES === null && !(process.env.FAULTLINE_TEST_REQUIRE ?? '').split(',').includes('postgres');

export interface TestServer {
  /** A new, empty database; returns its address. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** A PostgreSQL server: the given one, or the machine's own binaries on a temporary directory. */
export async function startPostgres(): Promise<TestServer> {
  if (ADDRESS !== null) return { createDatabase: () => createDatabase(ADDRESS), stop: async () => undefined };
  if (BINARIES === null) throw new Error('PostgreSQL is required: set FAULTLINE_TEST_POSTGRES_URL or install the server');
  const folder = await mkdtemp(join(tmpdir(), 'faultline-postgres-'));
  const owner = serverOwner();
  if (owner !== null) await chown(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  execFileSync(join(BINARIES, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'], {
    ...owner,
    stdio: 'ignore',
  });
  const port = await freePort();
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`, '-c', 'fsync=off'];
  const server = spawn(join(BINARIES, 'postgres'), ['-D', data, '-p', String(port), ...settings], { ...owner, stdio: 'ignore' });
  const address = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await untilItAnswers(address);
  const stop = async () => {
    const closed = once(server, 'close');
    server.kill('SIGINT');
    await closed;
    await rm(folder, { recursive: true, force: true });
  };
  return { createDatabase: () => createDatabase(address), stop };
}

/**
 * A migrated database on the server. Where the server has no pgvector, the migration that needs it is left out: everything
 * but the vectors can be tried there.
 */
export async function openMigrated(server: TestServer): Promise<PgDatabase & { dispose(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-migrations-'));
  const url = await server.createDatabase();
  const database = await openPostgres({ url, poolSize: 6, migrationsFolder: folder });
  const [vector] = await database.query(`select name from pg_available_extensions where name = 'vector'`);
  for (const name of await readdir(MIGRATIONS_FOLDER)) {
    if (vector !== undefined || !name.includes('vector')) await cp(join(MIGRATIONS_FOLDER, name), join(folder, name));
  }
  await database.migrate();
  const dispose = async () => {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...database, dispose };
}

async function createDatabase(address: string): Promise<string> {
  const name = `faultline_${Date.now().toString(36)}_${Math.random().toString(36).slice(2, 8)}`;
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(address);
  url.pathname = name;
  return url.href;
}

async function untilItAnswers(address: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const client = new pg.Client({ connectionString: address });
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The folder of the newest server on this machine. */
function findBinaries(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(debian, version, 'bin')), ...(process.env.PATH ?? '').split(':')];
  return folders.find((folder) => existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'initdb'))) ?? null;
}

/** PostgreSQL refuses to run as root: then its own user, or nobody, runs it. */
function serverOwner(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  for (const user of ['postgres', 'nobody']) {
    try {
      const number = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: number('-u'), gid: number('-g') };
    } catch {}
  }
  return null;
}
