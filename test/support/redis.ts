import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort, startGate } from './gate.ts';

/** The address of a server whose database may be emptied, such as `redis://127.0.0.1:6379/9`. */
const ADDRESS = process.env.FAULTLINE_TEST_REDIS_URL ?? null;
const BINARY = findBinary();
const DOCKER = process.env.DOCKER_HOST !== undefined || existsSync('/var/run/docker.sock');
const IMAGE = 'redis:7-alpine';

/**
 * True if the tests on a real Redis are skipped, because there is no address, no Docker, and no installed
 * server. They are never skipped, and fail instead, if FAULTLINE_TEST_REQUIRE names redis.
 */
export const withoutRedis =
  ADDRESS === null &&
  BINARY === null &&
  !DOCKER &&
  !(process.env.FAULTLINE_TEST_REQUIRE ?? '').split(',').includes('redis');

/** A Redis whose outages can be simulated. Its address never changes. */
export interface TestRedis {
  readonly url: string;
  /** Stops all answers and breaks connections at once. */
  kill(): Promise<void>;
  /** Keeps connections open and accepts new ones, but never answers. */
  pause(): Promise<void>;
  /** Ends `kill` or `pause`. The stored data remains, unless `empty` is set. */
  resume(options?: { readonly empty?: boolean }): Promise<void>;
  /** Calls `kill`, then `resume`. */
  restart(options?: { readonly empty?: boolean }): Promise<void>;
  /** Deletes everything, including queues. */
  flush(): Promise<void>;
  /** Runs a command, such as `command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')`. */
  command(name: string, ...values: readonly string[]): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Starts or finds a server: that of FAULTLINE_TEST_REDIS_URL, or one in Docker, or the machine's own
 * redis-server.
 */
export async function startRedis(): Promise<TestRedis> {
  if (ADDRESS !== null) return putBehindGate(ADDRESS, async () => undefined);
  const container = DOCKER ? await startContainer() : null;
  if (container !== null) return putBehindGate(container.url, container.stop);
  if (BINARY === null)
    throw new Error('Redis is required: set FAULTLINE_TEST_REDIS_URL or install redis-server');
  return startBinary(BINARY);
}

/** Puts a gate before a server that we must not kill. The gate is closed and frozen instead. */
async function putBehindGate(address: string, stop: () => Promise<void>): Promise<TestRedis> {
  const target = new URL(address);
  const gate = await startGate({ host: target.hostname, port: Number(target.port || 6379) });
  const through = new URL(address);
  through.hostname = '127.0.0.1';
  through.port = String(gate.port);
  const command = createCommand(address);
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
  // Data is appended and synchronized at once, so that acknowledged data remains after SIGKILL.
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
  const command = createCommand(url);
  const start = async () => {
    const process = spawn(binary, [...settings, '--appendfsync', 'always'], { stdio: 'ignore' });
    await waitUntilItAnswers(url);
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

function createCommand(address: string): TestRedis['command'] {
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

async function waitUntilItAnswers(url: string): Promise<void> {
  const command = createCommand(url);
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
