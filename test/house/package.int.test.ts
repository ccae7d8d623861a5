import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const LOG = join(ROOT, 'test/fixtures/failures/npm-eresolve/log.txt');
/** What only an installation with services of its own needs. */
const SERVER_PACKAGES = ['bullmq', 'ioredis', 'mongodb', '@pinecone-database'];
const TOKEN = 'token-of-the-installed-package';
const Triaged = z.object({ analyses: z.tuple([z.object({ category: z.string() })]) });
const Accepted = z.object({ buildId: z.string() });
const Progress = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(z.object({ category: z.string() })),
});

let folder = '';
const npx = (...args: string[]) =>
  run('npx', ['--no-install', 'faultline', ...args], { cwd: folder, timeout: 60_000 });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-package-'));
  await run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT });
  const [tarball] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await writeFile(join(folder, 'package.json'), '{"name":"somebodys-project","private":true}');
  await run('npm', ['install', '--no-audit', '--no-fund', `./${tarball}`], { cwd: folder, timeout: 300_000 });
}, 360_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the packed package, installed in an empty folder', () => {
  it('answers a log with `npx faultline triage`', async () => {
    const { stdout } = await npx('triage', LOG, '--json');
    expect(Triaged.parse(JSON.parse(stdout)).analyses[0].category).toBe('DEPENDENCY_ERROR');
  });

  it('contains no development tools, and no source whose types would have to be stripped', async () => {
    const installed = join(folder, 'node_modules/faultline');
    const files = await readdir(join(installed, 'dist'), { recursive: true });
    expect(files.filter((name) => name.endsWith('.ts')).sort()).toEqual([
      'client/index.d.ts',
      'client/schema.d.ts',
    ]);
    expect(files).toContain('sbom.cdx.json');
    for (const tool of ['vitest', 'typescript', '@biomejs/biome'])
      expect(await readdir(join(folder, 'node_modules'))).not.toContain(tool);
  });

  it('triages and serves without the packages of the services', async () => {
    for (const name of SERVER_PACKAGES) await rm(join(folder, 'node_modules', name), { recursive: true });
    const { stdout } = await npx('triage', LOG, '--json');
    expect(Triaged.parse(JSON.parse(stdout)).analyses[0].category).toBe('DEPENDENCY_ERROR');

    const service = spawn(
      'npx',
      ['--no-install', 'faultline', 'serve', '--data', join(folder, 'data'), '--port', '0'],
      {
        cwd: folder,
        env: { ...process.env, FAULTLINE_TOKENS: `admin:admin:${TOKEN}` },
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      },
    );
    try {
      const address = await waitForListening(service.stdout);
      expect(await uploadAndWait(address)).toEqual(['DEPENDENCY_ERROR']);
      expect(await askByClient(address)).toEqual(['DEPENDENCY_ERROR']);
    } finally {
      const ended = once(service, 'exit');
      if (service.pid !== undefined) process.kill(-service.pid, 'SIGTERM');
      await ended;
    }
  });
});

async function waitForListening(output: AsyncIterable<unknown>): Promise<string> {
  let said = '';
  for await (const piece of output) {
    said += String(piece);
    const address = /listening on (\S+)/.exec(said)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error(`it ended before it listened: ${said}`);
}

/** Enough lines for a log to be masked and read in a thread. */
const MANY_LINES = 'added 1 package in 2s\n'.repeat(20_000);

/** Sends the log as a CI would and waits for its categories. */
async function uploadAndWait(address: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const body = JSON.stringify({
    metadata: { repository: 'shop/api', pipeline: 'ci', number: '1', status: 'failed' },
    logs: [{ name: 'build.log', text: `${MANY_LINES}${await readFile(LOG, 'utf8')}` }],
  });
  const { buildId } = Accepted.parse(
    await (await fetch(`${address}/api/builds`, { method: 'POST', headers, body })).json(),
  );
  for (let tries = 0; tries < 300; tries++) {
    const { triage, analyses } = Progress.parse(
      await (await fetch(`${address}/api/builds/${buildId}/analyses`, { headers })).json(),
    );
    if (triage?.state === 'done') return analyses.map(({ category }) => category);
    await new Promise((resolvePromise) => setTimeout(resolvePromise, 100));
  }
  throw new Error('the build was never answered');
}

const PROGRAM = `
import { createClient } from 'faultline/client';

const faultline = createClient({ url: process.argv[2] ?? '', token: '${TOKEN}' });
const { data } = await faultline.GET('/api/builds', { params: { query: { repository: 'shop/api' } } });
for (const { id } of data?.items ?? []) {
  const answers = await faultline.GET('/api/builds/{id}/analyses', { params: { path: { id } } });
  console.log(JSON.stringify(answers.data?.analyses.map(({ category }) => category)));
}
// @ts-expect-error There is no such route.
console.error((await faultline.GET('/api/nowhere', {})).response.status);
`;

/** Compiles a program of somebody's against the types of the client, and runs it. */
async function askByClient(address: string): Promise<unknown> {
  const compiler = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: compiler, files: ['ask.mts'] }),
  );
  await writeFile(join(folder, 'ask.mts'), PROGRAM);
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder]);
  const { stdout, stderr } = await run(process.execPath, [join(folder, 'ask.mts'), address], { cwd: folder });
  expect(stderr).toContain('404');
  return JSON.parse(stdout);
}
