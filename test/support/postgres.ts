import { existsSync } from 'node:fs';
import pg from 'pg';
import type { PgDatabase } from '../../src/stores/database/pool-database.ts';
import { openPostgres } from '../../src/stores/database/postgres.ts';
import { startGate } from './gate.ts';
import { findBinaries, startBinaries } from './postgres-binaries.ts';

/** Address of a server with pgvector and pg_trgm on which databases may be created, e.g. `postgres://postgres@127.0.0.1:5432/postgres`. */
const ADDRESS = process.env.FAULTLINE_TEST_POSTGRES_URL ?? null;
const DOCKER = process.env.DOCKER_HOST !== undefined || existsSync('/var/run/docker.sock');
const BINARIES = findBinaries();
const IMAGE = 'pgvector/pgvector:pg17';

/**
 * Whether the tests on a real server are left out: where there is neither an address, nor Docker, nor a server with pgvector
 * installed. Never where FAULTLINE_TEST_REQUIRE names postgres; they fail then.
 */
export const withoutPostgres =
  ADDRESS === null && !DOCKER && BINARIES === null && !(process.env.FAULTLINE_TEST_REQUIRE ?? '').split(',').includes('postgres');

/** A PostgreSQL server whose bad days can be played. Addresses stay the same whatever happens. */
export interface TestServer {
  /** Of the database `postgres`, as superuser. */
  readonly url: string;
  /** A new, empty database; returns its address. */
  createDatabase(): Promise<string>;
  /** A new database with every migration applied, by copying one: a matter of milliseconds from the second on. */
  createMigrated(): Promise<string>;
  /** The server goes away and its data stay. A server that is not ours stays; the way to it is shut, whatever the mode. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  /** `stop` and `start`. */
  restart(mode: 'fast' | 'immediate'): Promise<void>;
  /** Ends it for good and deletes what it stored. */
  dispose(): Promise<void>;
}

export interface ServerOptions {
  /** As in `max_connections=20`; only for a server of our own. */
  readonly settings?: readonly string[];
  /** Where the machine has binaries, they are taken before an address and Docker: only such a server can really be restarted. */
  readonly own?: boolean;
}

type Running = Pick<TestServer, 'url' | 'stop' | 'start' | 'dispose'>;

/** The server of FAULTLINE_TEST_POSTGRES_URL, else one in Docker, else the machine's own binaries on a temporary directory. */
export async function startPostgres({ settings = [], own = false }: ServerOptions = {}): Promise<TestServer> {
  const server = await startServer(settings, own);
  const createDatabase = (template?: string) => makeDatabase(server.url, template);
  let template: Promise<string> | null = null;
  return {
    ...server,
    stop: (mode = 'fast') => server.stop(mode),
    restart: async (mode) => {
      await server.stop(mode);
      await server.start();
    },
    createDatabase: () => createDatabase(),
    createMigrated: async () => {
      template ??= createDatabase().then(migrated);
      return createDatabase(new URL(await template).pathname.slice(1));
    },
  };
}

/** An empty database with every migration applied, and one connection pool on it. */
export async function openMigrated(
  server: TestServer,
  poolSize = 6,
): Promise<PgDatabase & { readonly url: string; dispose(): Promise<void> }> {
  const url = await server.createMigrated();
  const database = await openPostgres({ url, poolSize });
  return { ...database, url, dispose: () => database.close() };
}

async function startServer(settings: readonly string[], own: boolean): Promise<Running> {
  if (own && BINARIES !== null) return startBinaries(BINARIES, settings);
  if (ADDRESS !== null) return behindGate(ADDRESS, async () => undefined);
  const container = DOCKER ? await startContainer() : null;
  if (container !== null) return behindGate(container.url, container.dispose);
  if (BINARIES === null) throw new Error('PostgreSQL is required: run scripts/install-postgres or set FAULTLINE_TEST_POSTGRES_URL');
  return startBinaries(BINARIES, settings);
}

/** A server that is not ours to stop: what is shut is the way to it. */
async function behindGate(address: string, dispose: () => Promise<void>): Promise<Running> {
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
    // The image starts the server twice: once to set it up.
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

async function migrated(url: string): Promise<string> {
  const database = await openPostgres({ url, poolSize: 2 });
  await database.migrate();
  await database.close();
  return url;
}
