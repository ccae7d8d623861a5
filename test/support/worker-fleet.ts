import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSparseBuild } from '../../src/domain/build.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createPostgresArchive } from '../../src/stores/archive/postgres.ts';
import type { PgDatabase } from '../../src/stores/database/pool-database.ts';
import { openPostgres } from '../../src/stores/database/postgres.ts';
import { createStores, type Stores } from '../../src/stores/stores.ts';
import { BARE, SCRIPT_OPTIONS } from './bare-environment.ts';
import { readCapturedFailure } from './captured-failures.ts';
import type { TestServer } from './postgres.ts';
import { withSettings } from './settings.ts';

const SCRIPT = resolve(import.meta.dirname, 'worker-process.ts');
/** The leases of a killed worker end soon, and a receiver has half a second. */
export const FLEET_SETTINGS = { triage: { leaseMs: 1000 }, channels: { timeoutMs: 500 } };
/** A failure for which the rules' answer is confident enough to be published without a person. */
const SURE = 'receipt-snapshot';
const READY_MS = 240_000;

export interface Worker {
  readonly process: ChildProcess;
  /** The lines that it has printed so far. */
  readonly lines: readonly string[];
  readonly ready: Promise<void>;
  /** Resolves with the exit code or the signal with which it ended. */
  readonly ended: Promise<string | number>;
}

/** A database with any number of worker processes. */
export interface Fleet {
  readonly database: PgDatabase;
  readonly stores: Stores;
  /** Stores this many failed builds and requests their triage, without a notification. */
  storeBuilds(builds: number): Promise<string[]>;
  start(environment?: Readonly<Record<string, string>>): Worker;
  /** Waits until every build has ended and every message is sent. */
  settled(buildIds: readonly string[]): Promise<void>;
  dispose(): Promise<void>;
}

export async function openFleet(
  server: TestServer,
  settings: Readonly<Record<string, string>> = {},
): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-fleet-'));
  const url = await server.createMigrated();
  const database = await openPostgres({ url, poolSize: 4 });
  const stores = createStores(database, systemClock);
  const workers: Worker[] = [];
  const environment = {
    ...BARE,
    FAULTLINE_DATABASE_URL: url,
    ...withSettings(FLEET_SETTINGS),
    ...settings,
  };
  return {
    database,
    stores,
    storeBuilds: (builds) => storeFailedBuilds(builds, stores, createPostgresArchive(database)),
    start: (own = {}) => {
      const worker = follow(
        spawn(process.execPath, [...SCRIPT_OPTIONS, SCRIPT, folder], {
          env: { ...environment, ...own },
          stdio: ['ignore', 'pipe', 'inherit'],
        }),
      );
      workers.push(worker);
      return worker;
    },
    settled: (buildIds) => waitUntilSettled(buildIds, database),
    dispose: async () => {
      for (const worker of workers) worker.process.kill('SIGKILL');
      await Promise.all(workers.map(({ ended }) => ended));
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function follow(child: ChildProcess): Worker {
  const lines: string[] = [];
  let rest = '';
  const ended = once(child, 'close').then(([code, signal]): string | number => signal ?? code);
  const started = Promise.withResolvers<void>();
  const timer = setTimeout(() => started.reject(new Error('the worker did not start')), READY_MS);
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    if (parts.includes('ready')) started.resolve();
  });
  void ended.then((how) =>
    typeof how === 'number' && how !== 0
      ? started.reject(new Error(`the worker ended with ${how}`))
      : started.resolve(),
  );
  void started.promise.finally(() => clearTimeout(timer)).catch(() => undefined);
  return { process: child, lines, ready: started.promise, ended };
}

async function storeFailedBuilds(
  builds: number,
  stores: Stores,
  archive: ReturnType<typeof createPostgresArchive>,
): Promise<string[]> {
  const { log: text } = readCapturedFailure(SURE);
  const ids: string[] = [];
  for (let number = 1; number <= builds; number++) {
    const { build } = await stores.builds.upsert(
      createSparseBuild({ repository: 'shop/api', pipeline: 'ci', number: String(number) }),
    );
    await archive.put(build.id, { name: 'build.log', kind: 'log', text, notes: [] });
    await stores.triages.request(build.id);
    ids.push(build.id);
  }
  return ids;
}

async function waitUntilSettled(buildIds: readonly string[], database: PgDatabase): Promise<void> {
  const open = 'select build_id from work where build_id = any ($1) and version > settled';
  for (let tries = 0; tries < 600; tries++) {
    if ((await database.query(open, [buildIds])).length === 0) return;
    await sleep(100);
  }
  throw new Error('the builds were never finished');
}
