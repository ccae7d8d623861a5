import { existsSync } from 'node:fs';
import pg from 'pg';
import type { PgDatabase } from '../../src/stores/database/pool-database.ts';
import { openPostgres } from '../../src/stores/database/postgres.ts';
import { startGate } from './gate.ts';
import { computeMigrationsKey, openEmbeddedDatabase } from './pglite.ts';
import { findBinaries, startBinaries } from './postgres-binaries.ts';

/**
 * The address of a server with pgvector and pg_trgm on which databases may be created, such as
 * `postgres://postgres@127.0.0.1:5432/postgres`.
 */
const ADDRESS = process.env.FAULTLINE_TEST_POSTGRES_URL ?? null;
const DOCKER = process.env.DOCKER_HOST !== undefined || existsSync('/var/run/docker.sock');
const BINARIES = findBinaries();
const IMAGE = 'pgvector/pgvector:pg17';

/**
 * True if the tests on a real server are skipped, because there is no address, no Docker, and no installed
 * server with pgvector. They are never skipped, and fail instead, if FAULTLINE_TEST_REQUIRE names postgres.
 */
export const withoutPostgres =
  ADDRESS === null &&
  !DOCKER &&
  BINARIES === null &&
  !(process.env.FAULTLINE_TEST_REQUIRE ?? '').split(',').includes('postgres');

/**
 * True if the tests of a run share a server. A database on it takes a tenth of the work of an embedded one.
 */
export const isServerShared = ADDRESS !== null;

/** A PostgreSQL server whose outages can be simulated. Its addresses never change. */
export interface TestServer {
  /** The URL of the database `postgres`, as superuser. */
  readonly url: string;
  /** Creates an empty database and returns its address. */
  createDatabase(): Promise<string>;
  /**
   * Creates a database with every migration applied. It is copied from one that is created once per server.
   */
  createMigrated(): Promise<string>;
  /**
   * Stops the server and keeps its data. If the server is not ours, only the connection to it is cut, in
   * either mode.
   */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  /** Stops and starts the server. */
  restart(mode: 'fast' | 'immediate'): Promise<void>;
  /** Ends the server and deletes its data. */
  dispose(): Promise<void>;
}

export interface ServerOptions {
  /** Settings of the form `max_connections=20`, only for a server of our own. */
  readonly settings?: readonly string[];
  /**
   * True if only this test uses the server and may stop it. It is started from the machine's binaries if
   * there are any. Otherwise it is a gate before another server.
   */
  readonly own?: boolean;
}

type Running = Pick<TestServer, 'url' | 'stop' | 'start' | 'dispose'>;

/**
 * Starts or finds a server: that of FAULTLINE_TEST_POSTGRES_URL, which test/support/shared-postgres.ts sets,
 * or one in Docker, or one from the machine's binaries.
 */
export async function startPostgres({ settings = [], own = false }: ServerOptions = {}): Promise<TestServer> {
  const server = await startServer(settings, own);
  const createDatabase = (template?: string) => makeDatabase(server.url, template);
  return {
    ...server,
    stop: (mode = 'fast') => server.stop(mode),
    restart: async (mode) => {
      await server.stop(mode);
      await server.start();
    },
    createDatabase: () => createDatabase(),
    createMigrated: async () => createDatabase(await createMigratedTemplate(server.url)),
  };
}

/** Opens an empty database with every migration applied, with one connection pool. */
export async function openMigrated(
  server: TestServer,
  poolSize = 6,
): Promise<PgDatabase & { readonly url: string; dispose(): Promise<void> }> {
  const url = await server.createMigrated();
  const database = await openPostgres({ url, poolSize });
  return { ...database, url, dispose: () => database.close() };
}

export type TestDatabase = PgDatabase & { dispose(): Promise<void> };

/**
 * Opens a migrated database for a test that does not depend on its kind: on the server of the run, or else
 * embedded.
 */
export async function openTestDatabase(): Promise<TestDatabase> {
  return isServerShared ? openMigrated(await startPostgres()) : openEmbeddedDatabase();
}

async function startServer(settings: readonly string[], own: boolean): Promise<Running> {
  if (own && BINARIES !== null) return startBinaries(BINARIES, settings);
  if (ADDRESS !== null)
    return own ? putBehindGate(ADDRESS, async () => undefined) : connectSharedServer(ADDRESS);
  const container = DOCKER ? await startContainer() : null;
  if (container !== null) return putBehindGate(container.url, container.dispose);
  if (BINARIES === null)
    throw new Error(
      'PostgreSQL is required: run scripts/install-postgres or set FAULTLINE_TEST_POSTGRES_URL',
    );
  return startBinaries(BINARIES, settings);
}

/** Returns access to a server that others use at the same time. */
function connectSharedServer(url: string): Running {
  const refuse = () =>
    Promise.reject(new Error('Others use this server: ask for one of your own to stop it'));
  return { url, stop: refuse, start: refuse, dispose: async () => undefined };
}

/** Puts a gate before a server that we must not stop. The gate is closed instead. */
async function putBehindGate(address: string, dispose: () => Promise<void>): Promise<Running> {
  const target = new URL(address);
  const gate = await startGate({ host: target.hostname, port: Number(target.port || 5432) });
  const through = new URL(address);
  through.hostname = '127.0.0.1';
  through.port = String(gate.port);
  return {
    url: through.href,
    stop: () => gate.close(),
    start: () => gate.open(),
    dispose: async () => {
      await gate.close();
      await dispose();
    },
  };
}

async function startContainer(): Promise<Pick<Running, 'url' | 'dispose'> | null> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import('testcontainers');
  const answers = await getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
  if (!answers) return null;
  const container = await new GenericContainer(IMAGE)
    .withEnvironment({ POSTGRES_HOST_AUTH_METHOD: 'trust' })
    .withExposedPorts(5432)
    // The image starts the server twice. The first start is for the setup.
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start();
  const url = `postgres://postgres@${container.getHost()}:${container.getMappedPort(5432)}/postgres`;
  return { url, dispose: async () => void (await container.stop()) };
}

async function makeDatabase(address: string, template = 'template1'): Promise<string> {
  const name = `faultline_${Date.now().toString(36)}_${Math.random().toString(36).slice(2, 8)}`;
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(`create database ${name} template ${template}`);
  } finally {
    await client.end();
  }
  const url = new URL(address);
  url.pathname = name;
  return url.href;
}

/**
 * Returns the name of a database with every migration applied. The first caller creates it for all. No
 * test connects to it, because then it could not be copied.
 */
async function createMigratedTemplate(address: string): Promise<string> {
  const name = `faultline_migrated_${await computeMigrationsKey()}`;
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) {
      const draft = await makeDatabase(address);
      const database = await openPostgres({ url: draft, poolSize: 2 });
      await database.migrate();
      await database.close();
      await client.query(`alter database ${new URL(draft).pathname.slice(1)} rename to ${name}`);
    }
  } finally {
    await client.end();
  }
  return name;
}
