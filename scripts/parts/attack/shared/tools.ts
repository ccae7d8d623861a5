import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The output of a program, and how it ended. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The folder in which tools are kept between runs. */
const CACHE = resolve('.faultline/attack');

/**
 * Installs npm packages in these versions, such as `@redocly/cli@2.77.0`, unless they are installed. Returns
 * the folder of their programs.
 */
export async function installNpmTools(name: string, packages: readonly string[]): Promise<string> {
  const folder = await installOnce(name, packages, (target) =>
    run('npm', [
      'install',
      '--prefix',
      target,
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--loglevel=error',
      ...packages,
    ]),
  );
  return join(folder, 'node_modules/.bin');
}

/**
 * Installs PyPI packages, such as `schemathesis==4.32.5`, in the same way. PYTHONPATH must also name the
 * returned folder.
 */
export async function installPythonTools(name: string, packages: readonly string[]): Promise<string> {
  return await installOnce(name, packages, (target) =>
    run('python3', [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--target',
      target,
      ...packages,
    ]),
  );
}

/** Runs a program to its end, for at most `minutes`. */
export async function run(
  program: string,
  args: readonly string[],
  {
    env = {},
    cwd = '.',
    minutes = 30,
  }: { env?: Readonly<Record<string, string>>; cwd?: string; minutes?: number } = {},
): Promise<Outcome> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.timeout(minutes * 60_000),
  });
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => (said[stream] += text));
  const code = await new Promise<number | null>((end, fail) => child.once('close', end).once('error', fail));
  return { code, ...said };
}

/**
 * Prints the result of a tool, with its whole output if it found something. Returns true if it found nothing.
 */
export function report(tool: string, summary: string, findings: number, said: string): boolean {
  console.info(`${findings === 0 ? 'ok   ' : 'FAIL '} ${tool}: ${summary}`);
  if (findings > 0) console.info(said);
  return findings === 0;
}

async function installOnce(
  name: string,
  packages: readonly string[],
  install: (target: string) => Promise<Outcome>,
): Promise<string> {
  const target = join(CACHE, name);
  const stamp = join(target, 'installed.txt');
  const wanted = packages.join('\n');
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return target;
  console.info(`installing ${packages.join(', ')} …`);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  const { code, stderr } = await install(target);
  if (code !== 0) throw new Error(`${packages.join(', ')} could not be installed: ${stderr.slice(-2000)}`);
  await writeFile(stamp, wanted);
  return target;
}
