import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { TriageError } from '../../domain/errors.ts';
import type { MigrateOptions, MigrateResult } from '../../ports/database.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { MIGRATIONS_FOLDER } from './migration-files.ts';
import { createPoolDatabase, type PgDatabase, toStorageError } from './pool-database.ts';
import { runMigrations } from './run-migrations.ts';

/**
 * The number of milliseconds that a caller waits for the single connection before it gets a retryable error.
 */
const WAIT_FOR_CONNECTION_MS = 60_000;

/**
 * Opens the embedded database in its own directory, and creates it on first use. PGlite runs in a thread
 * behind a pg pool with one connection, so all work in the process is serialized. The database is not
 * migrated yet: call `migrate()`. Throws `locked` if another process has opened it, `invalid-config` if the
 * directory contains other files.
 */
export async function openPglite(options: {
  readonly dataDir: string;
  readonly migrationsFolder?: string;
}): Promise<PgDatabase> {
  const lock = await lockDirectory(options.dataDir);
  try {
    const thread = await openDirectory(lock);
    const pool = new pg.Pool({ ...ONE_CONNECTION, stream: () => thread.connect() });
    const close = async () => {
      await pool.end();
      await thread.close();
      await lock.release();
    };
    return createPoolDatabase({
      driver: 'pglite',
      pool,
      migrate: (how) => migrateOn(pool, options.migrationsFolder ?? MIGRATIONS_FOLDER, how),
      close,
    });
  } catch (error) {
    await lock.release();
    throw toStorageError(error);
  }
}

async function migrateOn(pool: pg.Pool, folder: string, options?: MigrateOptions): Promise<MigrateResult> {
  const client = await pool.connect();
  try {
    return await runMigrations(client, folder, options);
  } finally {
    client.release();
  }
}

const ONE_CONNECTION = {
  user: 'postgres',
  database: 'postgres',
  max: 1,
  idleTimeoutMillis: 0,
  connectionTimeoutMillis: WAIT_FOR_CONNECTION_MS,
} satisfies pg.PoolConfig;

/**
 * Opens the directory of the database. An interrupted first initialization leaves half a database without any
 * user data; a marker file next to the directory records this, and the database is created again.
 */
async function openDirectory({ directory }: DirectoryLock) {
  const marker = `${directory}.initializing`;
  const names = await readdir(directory);
  const cutShort = existsSync(marker);
  if (cutShort)
    await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true, force: true })));
  const fresh = cutShort || names.length === 0;
  if (!fresh && !names.includes('PG_VERSION')) {
    throw new TriageError(
      'invalid-config',
      `${directory} is not empty and contains no database. Use an empty or new data directory.`,
    );
  }
  if (fresh) await writeFile(marker, '');
  const thread = await startPgliteThread(directory);
  if (fresh) await rm(marker, { force: true });
  return thread;
}

type Settle = (reply: Uint8Array | Error) => void;

/** Node's types lack this declaration. */
declare const WebAssembly: { readonly compile: (bytes: Uint8Array) => Promise<object> };

/**
 * The compiled WebAssembly module of PostgreSQL. Compiling takes half of the time to open a database, so it
 * is done once in a process.
 */
let compiled: Promise<object> | undefined;

/**
 * Opens the database in the directory in a thread, so that no statement blocks the event loop of the service.
 * Creates the database if the directory is empty. Throws the errors of PGlite.
 */
async function startPgliteThread(dataDir: string) {
  compiled ??= readFile(new URL('pglite.wasm', import.meta.resolve('@electric-sql/pglite'))).then((bytes) =>
    WebAssembly.compile(bytes),
  );
  const workerData = { dataDir, compiled: await compiled };
  const worker = new Worker(new URL(`./pglite-worker${extname(import.meta.url)}`, import.meta.url), {
    workerData,
  });
  const exited = new Promise<void>((settle) => worker.once('exit', () => settle()));
  const ended = () => new Error('The thread of the embedded database has ended');
  await Promise.race([once(worker, 'message'), exited.then(() => Promise.reject(ended()))]);
  const waiting: Settle[] = [];
  let broken: Error | null = null;
  const fail = (error: Error) => {
    broken ??= error;
    for (const settle of waiting.splice(0)) settle(broken);
  };
  worker.on('message', (reply: Uint8Array) => {
    waiting.shift()?.(reply);
    if (waiting.length === 0) worker.unref();
  });
  worker.on('error', fail);
  exited.then(() => fail(ended()));
  // An idle database must not keep the process alive.
  worker.unref();
  const send = (request: Uint8Array, settle: Settle) => {
    if (broken !== null) {
      settle(broken);
      return;
    }
    worker.ref();
    waiting.push(settle);
    worker.postMessage(request);
  };
  return {
    /**
     * Opens a connection for pg's client. All connections share one session, so there must be only one at a
     * time.
     */
    connect: (): Duplex => new PgliteConnection(send),
    /**
     * Closes the database cleanly, and then ends the thread. Returns at once if the thread has already ended.
     */
    close: async () => {
      worker.ref();
      worker.postMessage('close');
      await exited;
    },
  };
}

const TERMINATE = 'X'.charCodeAt(0);

/**
 * The duplex stream that pg's client uses as its socket. The messages of one statement are written together,
 * so that they need only one round trip to the thread.
 */
class PgliteConnection extends Duplex {
  readonly #send: (request: Uint8Array, settle: Settle) => void;

  constructor(send: (request: Uint8Array, settle: Settle) => void) {
    super();
    this.#send = send;
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#exchange(chunk, done);
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#exchange(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  #exchange(request: Uint8Array, done: (error?: Error | null) => void): void {
    // The session outlives the client that closes the connection, and the next client continues it.
    if (request[0] === TERMINATE) {
      this.push(null);
      done();
      return;
    }
    this.#send(request, (reply) => {
      if (reply instanceof Error) done(reply);
      else {
        this.push(reply);
        done();
      }
    });
  }
}
