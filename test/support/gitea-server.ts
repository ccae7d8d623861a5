import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { freePort } from './gate.ts';

const BUILT = join(import.meta.dirname, '../../.faultline/real-ci');
const READY_MS = 240_000;
const SECRET = 'made-for-this-run-only';

export interface Account {
  readonly name: string;
  readonly password: string;
}

/** A delivery as the server recorded it. */
export interface Delivery {
  readonly event: string;
  readonly action: string;
  /** The status of the response. 0 if there was none. */
  readonly status: number;
}

/**
 * A real Gitea on the loopback interface, with one runner that runs jobs on this machine. Everything is in a
 * temporary folder.
 */
export interface GiteaServer {
  readonly url: string;
  readonly admin: Account;
  /** Calls the API under `/api/v1`. Throws with the server's own message if it refuses. */
  api<Value>(
    as: Account,
    method: string,
    path: string,
    schema: z.ZodType<Value>,
    body?: object,
  ): Promise<Value>;
  addAccount(name: string): Promise<Account>;
  /** Returns the URL to which git pushes. */
  remote(as: Account, repository: string): string;
  /** Returns every delivery to a webhook so far. */
  deliveries(): readonly Delivery[];
  /** Returns the last output of the server and the runner, for a test that fails. */
  said(): string;
  stop(): Promise<void>;
}

/** Returns the path of a program that `scripts/install-gitea` built. Throws if it was not built. */
export function findRealCiProgram(name: 'gitea' | 'runner' | 'act'): string {
  const program = join(BUILT, 'bin', name);
  if (!existsSync(program))
    throw new Error(
      `${name} is not built here: run scripts/install-gitea (needs Go; about 13 minutes, once)`,
    );
  return program;
}

/** Starts Gitea. `node` is the program that jobs find on PATH as `node`. */
export async function startGitea(node: string): Promise<GiteaServer> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-gitea-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const config = join(folder, 'app.ini');
  await writeFile(config, formatAppIni(folder, url));
  const environment = {
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    HOME: folder,
    GITEA_WORK_DIR: folder,
  };
  const gitea = (...args: string[]) =>
    promisify(execFile)(findRealCiProgram('gitea'), ['--config', config, ...args], {
      env: environment,
      cwd: folder,
    });
  const admin = { name: 'operator', password: 'password-of-the-operator' };
  await gitea('migrate');
  await gitea(
    'admin',
    'user',
    'create',
    '--admin',
    '--username',
    admin.name,
    '--password',
    admin.password,
    '--email',
    'operator@example.test',
    '--must-change-password=false',
  );
  const said: string[] = [];
  const start = (name: 'gitea' | 'runner', args: string[]) =>
    startProgram(findRealCiProgram(name), args, { env: environment, cwd: folder }, said);
  const running = [start('gitea', ['--config', config, 'web'])];
  const api: GiteaServer['api'] = (as, method, path, schema, body) =>
    ask(url, as, method, path, schema, body);
  const stop = async () => {
    await Promise.all(running.toReversed().map(formatEnd));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await waitUntil('Gitea listens', READY_MS, () =>
      fetch(`${url}/api/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const { stdout: token } = await gitea('actions', 'generate-runner-token');
    await writeFile(join(folder, 'runner.yaml'), RUNNER_CONFIG);
    const register = [
      'register',
      '--no-interactive',
      '--instance',
      url,
      '--token',
      token.trim(),
      '--name',
      'one',
      '--labels',
      'ubuntu-latest:host',
    ];
    await promisify(execFile)(findRealCiProgram('runner'), ['--config', 'runner.yaml', ...register], {
      env: environment,
      cwd: folder,
    });
    running.push(start('runner', ['--config', 'runner.yaml', 'daemon']));
  } catch (cause) {
    await stop();
    throw new Error(`Gitea did not start: ${said.join('').slice(-3_000)}`, { cause });
  }
  return {
    url,
    admin,
    api,
    async addAccount(name) {
      const account = { name, password: `password-of-${name}` };
      const body = {
        username: name,
        password: account.password,
        email: `${name}@example.test`,
        must_change_password: false,
      };
      await api(admin, 'POST', '/admin/users', z.unknown(), body);
      return account;
    },
    remote: ({ name, password }, repository) =>
      `${url.replace('://', `://${name}:${password}@`)}/${repository}.git`,
    deliveries: () => readDeliveries(join(folder, 'gitea.db')),
    said: () => said.join('').slice(-10_000),
    stop,
  };
}

/** Repeats a check until it succeeds. Throws after a time limit, with a description of the condition. */
export async function waitUntil<Value>(
  what: string,
  withinMs: number,
  ask: () => Promise<Value | null | false>,
): Promise<Value> {
  const last = Date.now() + withinMs;
  for (;;) {
    const found = await ask();
    if (found !== null && found !== false) return found;
    if (Date.now() > last) throw new Error(`waited ${withinMs / 1000} s in vain: ${what}`);
    await sleep(250);
  }
}

async function ask<Value>(
  url: string,
  as: Account,
  method: string,
  path: string,
  schema: z.ZodType<Value>,
  body?: object,
): Promise<Value> {
  const authorization = `Basic ${Buffer.from(`${as.name}:${as.password}`).toString('base64')}`;
  const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
  return schema.parse(/^[[{]/.test(text) ? JSON.parse(text) : text);
}

function startProgram(
  program: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd: string },
  said: string[],
): ChildProcess {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
  return child;
}

async function formatEnd(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await Promise.race([exited, sleep(10_000)]);
  child.kill('SIGKILL');
  await exited;
}

const Task = z.object({
  event_type: z.string(),
  payload_content: z.string(),
  response_content: z.string().nullable(),
});

/** Reads the deliveries from the database table, because the API has no list of them. */
function readDeliveries(file: string): Delivery[] {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  const rows = database
    .prepare('SELECT event_type, payload_content, response_content FROM hook_task ORDER BY id')
    .all();
  database.close();
  return z
    .array(Task)
    .parse(rows)
    .map(({ event_type: event, payload_content, response_content }) => ({
      event,
      action: z.object({ action: z.string().default('') }).parse(JSON.parse(payload_content)).action,
      status: z
        .object({ status: z.int() })
        .catch({ status: 0 })
        .parse(JSON.parse(response_content ?? 'null')).status,
    }));
}

const RUNNER_CONFIG = `runner:
  file: .runner
  capacity: 1
  fetch_interval: 1s
  state_report_interval: 1s
  labels: ["ubuntu-latest:host"]
cache:
  enabled: false
`;

function formatAppIni(folder: string, url: string): string {
  return `APP_NAME = Gitea
RUN_USER = ${userInfo().username}
RUN_MODE = prod
WORK_PATH = ${folder}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${new URL(url).port}
ROOT_URL = ${url}/
STATIC_ROOT_PATH = ${join(BUILT, 'static')}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = ${join(folder, 'gitea.db')}
[repository]
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = ${SECRET}
[service]
DISABLE_REGISTRATION = true
[webhook]
DELIVER_TIMEOUT = 15
ALLOWED_HOST_LIST = loopback
[actions]
ENABLED = true
DEFAULT_ACTIONS_URL = self
[log]
MODE = console
LEVEL = Warn
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
`;
}
