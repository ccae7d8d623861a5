import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createLineStamper } from './stamp.ts';
import type { Recipe } from './truth.ts';

/** The time limit of a run, in milliseconds. It is then killed. */
const MAX_RUN = 900_000;

/** The result of one run of a project, exactly as the tools wrote it. */
export interface Run {
  readonly log: Buffer;
  readonly exitCode: number;
  readonly report: string | undefined;
  readonly versions: Readonly<Record<string, string>>;
}

export interface RunRequest {
  readonly projectDir: string;
  readonly checkout: string;
  readonly recipe: Pick<Recipe, 'tools' | 'report' | 'ci' | 'project' | 'cold'>;
  readonly variant: 'red' | 'green';
}

/**
 * Runs a project in its own namespaces. Logs in the style of GitHub get a timestamp per line as they are
 * written.
 */
export async function runInSandbox(request: RunRequest): Promise<Run> {
  const out = await mkdtemp(join(tmpdir(), 'capture-'));
  try {
    const { tools, report } = request.recipe;
    await writeFile(
      join(out, 'tools'),
      Object.entries(tools)
        .map(([name, command]) => `${name}\t${command}\n`)
        .join(''),
    );
    if (report !== undefined) await writeFile(join(out, 'report-path'), report);
    const { log, exitCode } = await record(request, out);
    return {
      log,
      exitCode,
      report: await readFile(join(out, 'report.xml'), 'utf8').catch(() => undefined),
      versions: readVersions(await readFile(join(out, 'versions'), 'utf8').catch(() => '')),
    };
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

function record(
  { projectDir, checkout, recipe, variant }: RunRequest,
  out: string,
): Promise<{ log: Buffer; exitCode: number }> {
  const warmth = recipe.cold ? 'cold' : 'warm';
  const child = spawn(
    'unshare',
    [
      '--kill-child',
      '--mount',
      '--uts',
      '--pid',
      '--fork',
      '--mount-proc',
      'bash',
      join(import.meta.dirname, 'sandbox.sh'),
      projectDir,
      variant,
      recipe.ci,
      recipe.project,
      warmth,
      out,
      process.execPath,
      checkout,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], timeout: MAX_RUN },
  );
  const stamp = createLineStamper(recipe.ci === 'github');
  const parts: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => parts.push(stamp(chunk)));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ log: Buffer.concat(parts), exitCode: code ?? -1 }));
  });
}

function readVersions(text: string): Record<string, string> {
  const versions: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const [name, said] = line.split('\t');
    if (name === undefined || said === undefined) continue;
    const version = /\d+(?:\.\d+)+[\w.+-]*/.exec(said)?.[0];
    if (version === undefined) throw new Error(`${name} did not say its version: ${said}`);
    versions[name] = version;
  }
  return versions;
}
