import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);
export const ROOT = resolve(import.meta.dirname, '../../..');
const COMPOSE_FILE = join(ROOT, 'docker-compose.yml');

const Service = z.object({
  image: z.string(),
  build: z.object({ dockerfile: z.string() }).optional(),
  command: z.array(z.string()).nullable(),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  healthcheck: z.object({ test: z.array(z.string()).optional(), disable: z.boolean().optional() }).optional(),
  ports: z
    .array(z.object({ target: z.int(), published: z.string(), host_ip: z.string().optional() }))
    .default([]),
  volumes: z.array(z.object({ type: z.string(), source: z.string(), target: z.string() })).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  read_only: z.boolean().optional(),
  user: z.string().optional(),
  cap_drop: z.array(z.string()).default([]),
});
export type ComposeService = z.infer<typeof Service>;
export const ComposeModel = z.object({ services: z.record(z.string(), Service) });
export type ComposeModel = z.infer<typeof ComposeModel>;

/**
 * Returns the compose file as Docker understands it, with every profile and these values. Uses
 * `docker compose config` if it is installed, otherwise its library, which needs Go. Throws with the message
 * for a file that is refused.
 */
export async function readCompose(
  values: Readonly<Record<string, string>>,
  file: string = COMPOSE_FILE,
): Promise<ComposeModel> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, GOFLAGS: '', ...values };
  const docker = await run('docker', ['compose', 'version'], { env }).then(
    () => true,
    () => false,
  );
  const [command, args, cwd] = docker
    ? (['docker', ['compose', '--profile', '*', '-f', file, 'config', '--format', 'json'], ROOT] as const)
    : (['go', ['run', '.', file], import.meta.dirname] as const);
  const { stdout } = await run(command, [...args], { cwd, env, timeout: 110_000 });
  return ComposeModel.parse(JSON.parse(stdout));
}

/** Returns the output of `scripts/new-env`: passwords, secrets and a token. */
export async function createEnvironment(): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-env-'));
  try {
    const file = join(folder, '.env');
    await run(join(ROOT, 'scripts/new-env'), [file]);
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
