import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BARE } from './bare-environment.ts';
import { type ComposeModel, type ComposeService, createEnvironment, readCompose } from './compose/compose.ts';
import { freePort } from './gate.ts';
import { queryDatabase, startMongodb, type TestMongodb } from './mongodb.ts';
import { startPostgres, type TestServer } from './postgres.ts';
import { startRedis, type TestRedis } from './redis.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');
const READY_MS = 240_000;

/** A running process of the compose file. */
export interface Running {
  readonly name: string;
  readonly process: ChildProcess;
  readonly exited: Promise<number | null>;
  /** The address. Only a process with the API has one. */
  readonly address: string;
  errors(): string;
  /** Runs the container's health check. */
  healthy(): Promise<boolean>;
}

/**
 * The services of `docker-compose.yml` on this machine: real stores, and our processes with the commands,
 * variables and health checks of the file.
 */
export interface ServerInstallation {
  readonly postgres: TestServer;
  readonly redis: TestRedis;
  readonly mongodb: TestMongodb;
  readonly databaseUrl: string;
  /**
   * Starts one more process of a service and waits until it is ready. The variables in `more` override all
   * others, including the port.
   */
  start(service: 'migrate' | 'api' | 'worker', more?: Readonly<Record<string, string>>): Promise<Running>;
  readonly running: readonly Running[];
  /** Kills the processes and stops the stores. */
  dispose(): Promise<void>;
}

/**
 * Starts the stores and the requested services. `environment` is added to the variables of the compose file.
 */
export async function installServer(
  environment: Readonly<Record<string, string>>,
): Promise<ServerInstallation> {
  const [model, postgres, redis, mongodb] = await Promise.all([
    createEnvironment().then(readCompose),
    startPostgres({ own: true }),
    startRedis(),
    startMongodb(),
  ]);
  const databaseUrl = await postgres.createDatabase();
  const addresses = {
    FAULTLINE_DATABASE_URL: databaseUrl,
    FAULTLINE_REDIS_URL: redis.url,
    FAULTLINE_MONGODB_URL: queryDatabase(mongodb.url, mongodb.database()),
  };
  const running: Running[] = [];
  return {
    postgres,
    redis,
    mongodb,
    databaseUrl,
    running,
    start: async (service, more = {}) => {
      const again = () =>
        startAs(service, findService(model, service), { ...addresses, ...environment }, more);
      // Another process may have taken the port for metrics since it was chosen.
      const started = await again().catch((error: unknown) =>
        String(error).includes('EADDRINUSE') ? again() : Promise.reject(error),
      );
      running.push(started);
      return started;
    },
    dispose: async () => {
      for (const one of running) one.process.kill('SIGKILL');
      await Promise.all(running.map(({ exited }) => exited));
      await Promise.allSettled([postgres.dispose(), redis.stop(), mongodb.stop()]);
    },
  };
}

function findService(model: ComposeModel, name: string): ComposeService {
  const service = model.services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no ${name}`);
  return service;
}

type Environment = Readonly<Record<string, string>>;

async function startAs(
  name: string,
  service: ComposeService,
  own: Environment,
  more: Environment,
): Promise<Running> {
  const metricsPort = await freePort();
  const nowhere = join(tmpdir(), `faultline-no-data-${process.pid}`);
  const child = spawn(process.execPath, [MAIN, ...(service.command ?? [])], {
    env: {
      ...BARE,
      ...withoutNull(service.environment),
      FAULTLINE_LOG_LEVEL: 'warn',
      FAULTLINE_RATE_LIMIT: '100000',
      // The container's file system is read-only, so writing there must fail.
      FAULTLINE_DATA_DIR: nowhere,
      ...own,
      FAULTLINE_HOST: '127.0.0.1',
      FAULTLINE_PORT: '0',
      FAULTLINE_METRICS_PORT: String(metricsPort),
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-100_000);
    });
  }
  const exited = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null));
  await waitForReadyOrEnd(name, child, exited, () => said);
  if (existsSync(nowhere)) throw new Error(`${name} wrote into its data directory`);
  const address = /listening on (\S+)/.exec(said)?.[1] ?? '';
  const ports = { 4600: new URL(address || 'http://127.0.0.1:4600').port, 9464: String(metricsPort) };
  return {
    name,
    process: child,
    exited,
    address,
    errors: () => said,
    healthy: () => computeHealth(service, ports),
  };
}

function withoutNull(environment: ComposeService['environment']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

/** Waits until the process listens or takes jobs. For `migrate`, waits until it ends. */
function waitForReadyOrEnd(
  name: string,
  child: ChildProcess,
  exited: Promise<number | null>,
  said: () => string,
): Promise<void> {
  return new Promise((settle, reject) => {
    const end = (error?: Error) => {
      clearTimeout(timer);
      if (error === undefined) settle();
      else reject(error);
    };
    const timer = setTimeout(
      () => end(new Error(`${name} was not ready within ${READY_MS} ms: ${said()}`)),
      READY_MS,
    );
    const look = () => /listening on \S+|worker is running/.test(said()) && end();
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    void exited.then((code) =>
      end(code === 0 ? undefined : new Error(`${name} ended with ${code}: ${said()}`)),
    );
  });
}

/** Runs the health check of the compose file with the ports of this process. */
async function computeHealth(
  service: ComposeService,
  ports: Readonly<Record<string, string>>,
): Promise<boolean> {
  const [kind, command = '', ...args] = service.healthcheck?.test ?? [];
  if (kind !== 'CMD' || command !== 'node')
    throw new Error('Only a health check that runs node can be run here');
  const adapted = args.map((text) =>
    text.replaceAll(/127\.0\.0\.1:(\d+)/g, (_, port: string) => `127.0.0.1:${ports[port]}`),
  );
  const [code] = await once(spawn(process.execPath, adapted, { stdio: 'ignore' }), 'exit');
  return code === 0;
}
