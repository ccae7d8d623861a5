import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { CI_SYSTEM_NAMES } from '../../../../src/domain/build.ts';
import { freePort } from '../../../../test/support/gate.ts';
import { queryDatabase, startMongodb } from '../../../../test/support/mongodb.ts';
import { startPostgres } from '../../../../test/support/postgres.ts';
import { startRedis } from '../../../../test/support/redis.ts';
import { withSettings } from '../../../../test/support/settings.ts';
import { report, run } from './tools.ts';

/** A service that may be damaged. It has its own stores, which are deleted when it stops. */
export interface AttackedService {
  /** The URL, which stays the same when it is killed and started again. */
  readonly url: string;
  /** A token with every role. */
  readonly token: string;
  /** The secret of webhooks. */
  readonly secret: string;
  /** Returns the ids of its processes. */
  readonly pids: () => readonly number[];
  /** The error lines of its log, and its output outside of the log when it crashed. */
  readonly errors: readonly string[];
  /** The warnings of its log, if FAULTLINE_LOG_LEVEL enables them. */
  readonly warnings: readonly string[];
  /** The variables that name its stores for the command line. */
  readonly stores: Readonly<Record<string, string>>;
  /** Returns true if one of its processes ended by itself. */
  readonly died: () => boolean;
  /**
   * Returns its current resources: of each process the resident memory (`serve, MB`) and the open descriptors
   * (`serve, files`), and in megabytes the tables of a database server, or the folders of a data directory.
   */
  usage(): Promise<Readonly<Record<string, number>>>;
  /** Kills every process with SIGKILL, and starts them again. */
  killAndStart(): Promise<void>;
  /** Ends its processes. Its stores remain until it stops. */
  end(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** The settings in addition to those that every attack needs. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The data directory, which is then kept. Without one, a temporary directory is used. */
  readonly dataDir?: string;
}

interface Stores {
  readonly environment: Readonly<Record<string, string>>;
  /** The number of processes that only work on builds. */
  readonly workers: number;
  /** Returns the size of the stored data in megabytes, by kind. */
  sizes(): Promise<Readonly<Record<string, number>>>;
  dispose(): Promise<unknown>;
}

const MODES = { embedded: openEmbeddedStores, server: openServerStores };
const { mode: chosen } = parseArgs({ options: { mode: { type: 'string', default: 'embedded' } } }).values;

/**
 * Starts the service from this checkout on a free port, without limits that would stop an attack. It uses
 * embedded stores, or, with `--mode server`, its own PostgreSQL, Redis and MongoDB with two workers.
 */
export async function startService({
  settings = {},
  dataDir,
}: ServiceOptions = {}): Promise<AttackedService> {
  const open = Object.entries(MODES).find(([name]) => name === chosen)?.[1];
  if (open === undefined)
    throw new Error(`There is no mode "${chosen}"; there are ${Object.keys(MODES).join(' and ')}.`);
  const stores = await open(dataDir);
  const token = `attack-${randomBytes(24).toString('hex')}`;
  const secret = randomBytes(24).toString('hex');
  const port = await freePort();
  const env = {
    ...withoutOurs(),
    ...createLimitlessSettings(token, secret),
    ...stores.environment,
    FAULTLINE_PORT: String(port),
    ...settings,
  };
  const said = { errors: [] as string[], warnings: [] as string[] };
  let running: Running[] = [];
  const start = async () => {
    const api = startProcess('serve', env, said);
    running = [api];
    // The API migrates the schema. Workers are started after that.
    await api.ready;
    for (let worker = 0; worker < stores.workers; worker++)
      running.push(startProcess('worker', env, said, `worker ${worker + 1}`));
    await Promise.all(running.map(({ ready }) => ready));
  };
  const end = async (signal: 'SIGKILL' | 'SIGTERM' = 'SIGTERM') => {
    for (const { child } of running) child.kill(signal);
    await Promise.all(running.map(({ ended }) => ended));
  };
  const stop = async () => {
    await end();
    await stores.dispose();
  };
  await start().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    secret,
    pids: () => running.flatMap(({ child }) => child.pid ?? []),
    ...said,
    stores: stores.environment,
    died: () => running.some(({ child }) => child.exitCode !== null || child.signalCode !== null),
    usage: async () => ({
      ...Object.fromEntries((await Promise.all(running.map(measureUsage))).flatMap(Object.entries)),
      ...(await stores.sizes()),
    }),
    killAndStart: async () => {
      await end('SIGKILL');
      await start();
    },
    end: () => end(),
    stop,
  };
}

/**
 * Prints the errors of the service itself. Returns true if there are none. `expected` matches the errors that
 * the attack must cause.
 */
export function reportService({ errors, died }: AttackedService, expected?: RegExp): boolean {
  const wrong = errors.filter((line) => expected?.test(line) !== true);
  const findings = wrong.length + (died() ? 1 : 0);
  const said = wrong.slice(0, 20).map((line) => line.slice(0, 2_000));
  return report(
    'service',
    `${wrong.length} errors in its log, ${died() ? 'died' : 'still answers'}`,
    findings,
    said.join('\n'),
  );
}

function withoutOurs(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FAULTLINE_')));
}

/** The settings under which kills from outside do not count as crashes of a build's triage. */
export const LIMITLESS = { triage: { maxCrashes: 100 } };

function createLimitlessSettings(token: string, secret: string): Readonly<Record<string, string>> {
  return {
    FAULTLINE_TOKENS: `attack:ingest+read+review+admin:${token}`,
    ...Object.fromEntries(
      CI_SYSTEM_NAMES.map((name) => [`FAULTLINE_${name.toUpperCase()}_WEBHOOK_SECRET`, secret]),
    ),
    FAULTLINE_TRUST_PROXY: '1',
    FAULTLINE_RATE_LIMIT: '1000000',
    ...withSettings(LIMITLESS),
    // No host on the internet is asked for a build.
    FAULTLINE_GITHUB_URL: 'http://127.0.0.1:9',
    FAULTLINE_LOG_LEVEL: 'error',
  };
}

async function openEmbeddedStores(given?: string): Promise<Stores> {
  const dataDir = given ?? (await mkdtemp(join(tmpdir(), 'faultline-attack-')));
  const dispose = async () =>
    given === undefined ? await rm(dataDir, { recursive: true, force: true }) : undefined;
  const sizes = async () => {
    const { stdout } = await run('du', ['--block-size=1M', '--max-depth=1', dataDir]);
    const folders = stdout
      .split('\n')
      .flatMap((line) => (line.includes(`${dataDir}/`) ? [line.split('\t')] : []));
    return Object.fromEntries(folders.map(([size, path = '']) => [`data/${basename(path)}`, Number(size)]));
  };
  return { environment: { FAULTLINE_DATA_DIR: dataDir }, workers: 0, sizes, dispose };
}

async function openServerStores(): Promise<Stores> {
  const [postgres, redis, mongodb] = await Promise.all([
    startPostgres({ own: true }),
    startRedis(),
    startMongodb(),
  ]);
  const url = await postgres.createDatabase();
  const watcher = new pg.Client(url);
  await watcher.connect();
  const sizes = async () => {
    const { rows } = await watcher.query<{ name: string; megabytes: number }>(TABLES);
    return Object.fromEntries(rows.map(({ name, megabytes }) => [`table ${name}`, megabytes]));
  };
  const environment = {
    FAULTLINE_MONGODB_URL: queryDatabase(mongodb.url, mongodb.database()),
    FAULTLINE_DATABASE_URL: url,
    FAULTLINE_REDIS_URL: redis.url,
    FAULTLINE_WORK_IN_SERVE: 'false',
  };
  const dispose = async () => {
    await watcher.end();
    await Promise.all([postgres.dispose(), redis.stop(), mongodb.stop()]);
  };
  return { environment, workers: 2, sizes, dispose };
}

/** The query for the size of each table, including its indexes and its TOAST data. */
const TABLES = `
  select relname as name, pg_total_relation_size(oid) / 1048576.0::float8 as megabytes from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace`;

interface Running {
  /** The name, such as `worker 2`. */
  readonly name: string;
  readonly child: ChildProcess;
  /** A promise that rejects if the process ends before it is ready. */
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
}

interface Said {
  readonly errors: string[];
  readonly warnings: string[];
}

function startProcess(
  command: 'serve' | 'worker',
  env: NodeJS.ProcessEnv,
  said: Said,
  name: string = command,
): Running {
  const child = spawn(process.execPath, ['src/cli/main.ts', command], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const ready = Promise.withResolvers<void>();
  let last = '';
  const look = (line: string) => {
    last = line;
    if (/"level":"(?:error|fatal)"|unhandled|Uncaught|FATAL ERROR/i.test(line)) said.errors.push(line);
    if (line.includes('"level":"warn"')) said.warnings.push(line);
    if (/listening on http|worker is running/.test(line)) ready.resolve();
  };
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', look);
  void ended.then(() => ready.reject(new Error(`${command} ended before it was ready: ${last}`)));
  ready.promise.catch(() => undefined);
  return { name, child, ready: ready.promise, ended };
}

/**
 * Returns the resources of a process. Files of the embedded database do not count: like any PostgreSQL, it
 * keeps those of every table and index open, up to its own limit.
 */
async function measureUsage({ name, child }: Running): Promise<Record<string, number>> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
  const folder = `/proc/${child.pid}/fd`;
  const descriptors = await readdir(folder).catch(() => []);
  const open = await Promise.all(
    descriptors.map((descriptor) => readlink(join(folder, descriptor)).catch(() => '')),
  );
  const files = open.filter((target) => target !== '' && !target.includes('/database/'));
  return {
    [`${name}, MB`]: Number(/VmRSS:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024,
    [`${name}, files`]: files.length,
  };
}
