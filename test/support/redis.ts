import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort, startGate } from './gate.ts';

/** Address of a server whose database may be emptied, e.g. `redis://127.0.0.1:6379/9`. */
const ADDRESS = process.env.FAULTLINE_TEST_REDIS_URL ?? null;
const BINARY = findBinary();
const DOCKER = process.env.DOCKER_HOST !== undefined || existsSync('/var/run/docker.sock');
const IMAGE = 'redis:7-alpine';

/**
 * Whether the tests on a real Redis are left out: where there is neither an address, nor Docker, nor a server installed.
 * Never where FAULTLINE_TEST_REQUIRE names redis; they fail then.
 */
export const withoutRedis =
  ADDRESS === null &&
  BINARY === null &&
  !DOCKER &&
  !(process.env.FAULTLINE_TEST_REQUIRE ?? '').split(',').includes('redis');

/** A Redis whose bad days can be played. Its address stays the same whatever happens. */
export interface TestRedis {
  readonly url: string;
  /** Nothing answers any more; connections break at once. */
  kill(): Promise<void>;
  /** Connections stay and new ones are accepted by the system, but nothing is ever answered. */
  pause(): Promise<void>;
  /** Ends `kill` or `pause`; what was stored is still there, unless `empty`. */
  resume(options?: { readonly empty?: boolean }): Promise<void>;
  /** `kill` and `resume`, one after the other. */
  restart(options?: { readonly empty?: boolean }): Promise<void>;
  /** Forgets everything, queues included. */
  flush(): Promise<void>;
  /** Any command while it runs, e.g. `command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')`. */
  command(name: string, ...values: readonly string[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** The server of FAULTLINE_TEST_REDIS_URL, else one in Docker, else the machine's own redis-server. */
export async function startRedis(): Promise<TestRedis> {
  if (ADDRESS !== null) return behindGate(ADDRESS, async () => undefined);
  const container = DOCKER ? await startContainer() : null;
  if (container !== null) return behindGate(container.url, container.stop);
  if (BINARY === null)
    throw new Error('Redis is required: set FAULTLINE_TEST_REDIS_URL or install redis-server');
  return startBinary(BINARY);
}

/** A server that is not ours to kill: what is killed and frozen is the way to it. */
async function behindGate(address: string, stop: () => Promise<void>): Promise<TestRedis> {
  const target = new URL(address);
  const gate = await startGate({ host: target.hostname, port: Number(target.port || 6379) });
  const through = new URL(address);
  through.hostname = '127.0.0.1';
  through.port = String(gate.port);
  const command = commandOn(address);
  const flush = async () => void (await command('FLUSHDB'));
  return withRestart({
    url: through.href,
    kill: () => gate.close(),
    pause: async () => gate.freeze(),
    resume: async ({ empty = false } = {}) => {
      if (empty) await flush();
      await gate.open();
    },
    flush,
    command,
    stop: async () => {
      await gate.close();
      await stop();
    },
  });
}

async function startContainer(): Promise<{ readonly url: string; stop(): Promise<void> } | null> {
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers');
  const answers = await getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
  if (!answers) return null;
  const container = await new GenericContainer(IMAGE).withExposedPorts(6379).start();
  return {
    url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
    stop: async () => void (await container.stop()),
  };
}

async function startBinary(binary: string): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  // Appended and synced at once: what was answered is still there after SIGKILL.
  const settings = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'yes',
  ];
  const command = commandOn(url);
  const start = async () => {
    const process = spawn(binary, [...settings, '--appendfsync', 'always'], { stdio: 'ignore' });
    await untilItAnswers(url);
    return process;
  };
  const kill = async (process: ChildProcess) => {
    if (process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, 'exit');
    process.kill('SIGKILL');
    await ended;
  };
  let server = await start();
  return withRestart({
    url,
    kill: () => kill(server),
    pause: async () => void server.kill('SIGSTOP'),
    resume: async ({ empty = false } = {}) => {
      server.kill('SIGCONT');
      if (empty) await kill(server);
      if (empty) await rm(join(folder, 'appendonlydir'), { recursive: true, force: true });
      if (server.exitCode !== null || server.signalCode !== null) server = await start();
    },
    flush: async () => void (await command('FLUSHALL')),
    command,
    stop: async () => {
      await kill(server);
      await rm(folder, { recursive: true, force: true });
    },
  });
}

function withRestart(redis: Omit<TestRedis, 'restart'>): TestRedis {
  const restart: TestRedis['restart'] = async (options) => {
    await redis.kill();
    await redis.resume(options);
  };
  return { ...redis, restart };
}

function commandOn(address: string): TestRedis['command'] {
  return async (name, ...values) => {
    const client = new Redis(address, {
      lazyConnect: true,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      connectTimeout: 2000,
    });
    client.on('error', () => undefined);
    try {
      return await client.call(name, ...values);
    } finally {
      client.disconnect();
    }
  };
}

async function untilItAnswers(url: string): Promise<void> {
  const command = commandOn(url);
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if ((await command('PING').catch(() => null)) === 'PONG') return;
    await delay(25);
  }
  throw new Error('The Redis server did not start');
}

function findBinary(): string | null {
  const folders = (process.env.PATH ?? '').split(':');
  return folders.map((folder) => join(folder, 'redis-server')).find((file) => existsSync(file)) ?? null;
}
