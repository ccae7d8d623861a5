import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { installPythonTools, run } from '../../../scripts/parts/attack/shared/tools.ts';
import type { HostileValues } from '../hostile-values.ts';

const VERSION = '4.3.0';
const PACKAGES = [`buildbot==${VERSION}`, `buildbot-worker==${VERSION}`];
const BUILD_MS = 15_000;

const Logs = z.array(z.tuple([z.string(), z.string(), z.string()]));

/** What a real Buildbot runs, and where. */
export interface BuildbotRun {
  /** The documented step, with the address of the server under test. */
  readonly recipe: string;
  readonly secret: string;
  /** Of the worker's process, beside PATH. */
  readonly workerEnvironment: Readonly<Record<string, string>>;
  readonly checkout: Readonly<Record<string, string>>;
  readonly changes: readonly HostileValues[];
  /** Whether all builds have been seen to end. */
  isDone(): boolean;
}

/** The logs of all steps: the step, the log, its text. Starts a master and a worker from PyPI, and ends both. */
export async function runBuildbot(given: BuildbotRun): Promise<z.infer<typeof Logs>> {
  const packages = resolve(await installPythonTools('buildbot', PACKAGES));
  const folder = await mkdtemp(join(tmpdir(), 'faultline-buildbot-'));
  const port = await findFreePort();
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    PYTHONPATH: packages,
    FOLDER: folder,
    PORT: `${port}`,
  };
  const children: ChildProcess[] = [];
  const said: Promise<string>[] = [];
  const start = (program: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const child = spawn('python3', [join(packages, 'bin', program), 'start', '--nodaemon', ...args], {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    said.push(text(child.stdout), text(child.stderr));
  };
  try {
    await writePlace(folder, given);
    await create(packages, 'buildbot', ['create-master', '-q', 'master'], folder, env);
    const address = `127.0.0.1:${port}`;
    await create(
      packages,
      'buildbot-worker',
      ['create-worker', '-q', 'worker', address, 'worker', 'not-a-secret'],
      folder,
      env,
    );
    await cp(join(import.meta.dirname, 'master.cfg'), join(folder, 'master/master.cfg'));
    start('buildbot', ['master']);
    start('buildbot-worker', ['worker'], given.workerEnvironment);
    const end = Date.now() + BUILD_MS * (2 + given.changes.length);
    while (!given.isDone() && Date.now() < end && children.every(({ exitCode }) => exitCode === null))
      await sleep(200);
    // The log of the last step is written after its command has ended.
    await sleep(2_000);
    await stopAll(children);
    if (!given.isDone())
      throw new Error(`not all builds ended: ${(await Promise.all(said)).join('\n').slice(-4_000)}`);
    const logs = execFileSync('python3', [
      join(import.meta.dirname, 'read-logs.py'),
      join(folder, 'master/state.sqlite'),
    ]);
    return Logs.parse(JSON.parse(logs.toString()));
  } finally {
    await stopAll(children);
    await rm(folder, { recursive: true, force: true });
  }
}

async function writePlace(folder: string, { recipe, secret, checkout, changes }: BuildbotRun): Promise<void> {
  await mkdir(join(folder, 'secrets'), { mode: 0o700 });
  await writeFile(join(folder, 'secrets/faultline-token'), secret, { mode: 0o600 });
  await writeFile(join(folder, 'recipe.py'), recipe);
  await writeFile(join(folder, 'changes.json'), JSON.stringify(changes));
  for (const [path, content] of Object.entries(checkout)) {
    await mkdir(dirname(join(folder, 'checkout', path)), { recursive: true });
    await writeFile(join(folder, 'checkout', path), content);
  }
}

async function create(
  packages: string,
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
) {
  const { code, stderr } = await run('python3', [join(packages, 'bin', program), ...args], { cwd, env });
  if (code !== 0) throw new Error(`${program} ${args[0]} failed: ${stderr}`);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function stopAll(children: readonly ChildProcess[]): Promise<void> {
  const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  await Promise.all(
    running.map(async (child) => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(timer);
    }),
  );
}
