import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import { freePort, startGate } from './gate.ts';

/** The address of a server on which databases may be created, such as `mongodb://127.0.0.1:27017`. */
const ADDRESS = process.env.FAULTLINE_TEST_MONGODB_URL ?? null;
const DOCKER = process.env.DOCKER_HOST !== undefined || existsSync('/var/run/docker.sock');
const IMAGE = 'mongo:7';
const JAVA = isOnPath('java') && isOnPath('mvn');
const SOURCES = fileURLToPath(new URL('./mongodb-server', import.meta.url));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/faultline-mongodb', import.meta.url));

/**
 * True if the tests on MongoDB's protocol are skipped, because there is no address, no Docker, and no Java
 * with Maven. They are never skipped, and fail instead, if FAULTLINE_TEST_REQUIRE names mongodb.
 */
export const withoutMongodb =
  ADDRESS === null &&
  !DOCKER &&
  !JAVA &&
  !(process.env.FAULTLINE_TEST_REQUIRE ?? '').split(',').includes('mongodb');

/** A server whose outages can be simulated. Its address always stays the same. */
export interface TestMongodb {
  readonly url: string;
  /** Returns the name of a database that no other test uses. */
  database(): string;
  /** Stops all answers and breaks connections at once. Acknowledged data is kept. */
  kill(): Promise<void>;
  /** Keeps connections open but never answers. */
  pause(): Promise<void>;
  /** Ends `kill` or `pause`. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** Returns the address of one database of a server. */
export function queryDatabase(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}

/** A server of our own, whose disk can also be full. */
export interface OwnMongodb extends TestMongodb {
  /** Sets whether it refuses writes with OutOfDiskSpace. */
  fillDisk(full: boolean): Promise<void>;
}

/**
 * Starts the server of FAULTLINE_TEST_MONGODB_URL, otherwise one in Docker, otherwise one in Java with the
 * same protocol.
 */
export async function startMongodb(): Promise<TestMongodb> {
  if (ADDRESS !== null) return putBehindGate(ADDRESS, async () => undefined);
  const container = DOCKER ? await startContainer() : null;
  return container === null ? startOwnMongodb() : putBehindGate(container.url, container.stop);
}

/** Starts mongo-java-server, which Maven downloads once, with its data in a temporary folder. */
export async function startOwnMongodb(): Promise<OwnMongodb> {
  if (!JAVA)
    throw new Error(
      'A MongoDB server is required: set FAULTLINE_TEST_MONGODB_URL, or install Docker, or Java and Maven',
    );
  const classes = await prepareMongodb();
  const folder = await mkdtemp(join(tmpdir(), 'faultline-mongodb-'));
  const port = await freePort();
  const url = `mongodb://127.0.0.1:${port}`;
  const start = async () => {
    const started = spawn(
      'java',
      [
        '-Xmx384m',
        '-XX:TieredStopAtLevel=1',
        '-cp',
        `${classes}/jars/*:${classes}`,
        'Launcher',
        String(port),
        folder,
      ],
      { stdio: 'ignore' },
    );
    await waitUntilItAnswers(url);
    return started;
  };
  let server = await start();
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  };
  return {
    url,
    database: createName,
    kill,
    pause: async () => void server.kill('SIGSTOP'),
    resume: async () => {
      server.kill('SIGCONT');
      if (server.exitCode !== null || server.signalCode !== null) server = await start();
    },
    fillDisk: async (full) =>
      full ? await writeFile(join(folder, 'full'), '') : await rm(join(folder, 'full'), { force: true }),
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Puts a gate before a server that we must not kill. The gate is closed and frozen instead. */
async function putBehindGate(address: string, stop: () => Promise<void>): Promise<TestMongodb> {
  const target = new URL(address);
  const gate = await startGate({ host: target.hostname, port: Number(target.port || 27017) });
  const through = new URL(address);
  through.hostname = '127.0.0.1';
  through.port = String(gate.port);
  // A member of a replica set would return its own address, which bypasses the gate.
  through.searchParams.set('directConnection', 'true');
  return {
    url: through.href,
    database: createName,
    kill: () => gate.close(),
    pause: async () => gate.freeze(),
    resume: () => gate.open(),
    stop: async () => {
      await gate.close();
      await stop();
    },
  };
}

async function startContainer(): Promise<{ readonly url: string; stop(): Promise<void> } | null> {
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers');
  const engine = await getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
  if (!engine) return null;
  const container = await new GenericContainer(IMAGE).withExposedPorts(27017).start();
  const url = `mongodb://${container.getHost()}:${container.getMappedPort(27017)}`;
  return { url, stop: async () => void (await container.stop()) };
}

/** Compiles the server's jars and our launcher, once until their sources change. */
export async function prepareMongodb(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of ['pom.xml', 'Launcher.java']) hash.update(await readFile(join(SOURCES, name)));
  const folder = join(CACHE, hash.digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  await cp(SOURCES, draft, { recursive: true });
  const run = promisify(execFile);
  await run('mvn', [
    '-q',
    '-B',
    '-f',
    join(draft, 'pom.xml'),
    'dependency:copy-dependencies',
    `-DoutputDirectory=${draft}/jars`,
  ]);
  // A runtime without `javac` also has the compiler.
  const jars = (await readdir(join(draft, 'jars'))).map((name) => join(draft, 'jars', name)).join(':');
  await run('java', [
    '-m',
    'jdk.compiler/com.sun.tools.javac.Main',
    '-cp',
    jars,
    '-d',
    draft,
    join(draft, 'Launcher.java'),
  ]);
  // Another process may have been faster. Its result is the same.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
  return folder;
}

async function waitUntilItAnswers(url: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const client = new MongoClient(url, { serverSelectionTimeoutMS: 200, connectTimeoutMS: 500 });
    const isUp = await client
      .db('admin')
      .command({ ping: 1 })
      .then(
        () => true,
        () => false,
      );
    await client.close();
    if (isUp) return;
    await delay(50);
  }
  throw new Error('The MongoDB server did not start');
}

function createName(): string {
  return `faultline_${Date.now().toString(36)}_${Math.random().toString(36).slice(2, 8)}`;
}

function isOnPath(command: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, command)));
}
