/**
 * Sends fifty hostile inputs, one after the other, and measures how long each blocks the event loop of a
 * process of the service.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createAuthorization, LOG, readAcceptedId, upload, waitForAnswers } from './shared/builds.ts';
import { reportService, startService } from './shared/service.ts';
import { report } from './shared/tools.ts';

/**
 * The target for a block of the event loop, and the limit for a finding, in milliseconds. They differ because
 * the processor is shared.
 */
const WANTED_MS = 50;
const BOUND_MS = 250;
/** The number of attempts for an input that blocked longer. The shortest one counts. */
const TRIES = 2;
const SIZE = 300_000;
const Held = z.object({ max: z.number() });

const fill = (part: string, size = SIZE) => part.repeat(Math.ceil(size / part.length)).slice(0, size);
const TEXTS: Readonly<Record<string, string>> = {
  'one long line': fill('a'),
  'blanks around line ends': fill(`${' '.repeat(20_000)}\n`),
  'escapes in escapes': fill('\u001b[\u001b[31m\u001b]8;;x'),
  'JSON nested deeply': `${'[{"a":'.repeat(50_000)}`,
  'XML nested deeply': `<testsuite>${'<testcase name="x"><failure>'.repeat(10_000)}`,
  'entities of XML': `<!DOCTYPE t [<!ENTITY a "aaaa">]><testsuite><testcase name="${fill('&a;')}"/></testsuite>`,
  'marks of Markdown': fill('[![**_`<a href="'),
  'names without values': fill('password: token= secret: "api_key" '),
  'unseen characters': fill('pass\u200bword\u200b \u202e'),
  'runs of base64': fill('cGFzc3dvcmQ9a7Q'),
};

const folder = await mkdtemp(join(tmpdir(), 'faultline-holds-'));
const meter = new URL('../bench/loop-meter.ts', import.meta.url).href;
const service = await startService({
  settings: { NODE_OPTIONS: `--import=${meter}`, BENCH_LOOP_FOLDER: folder },
});
let sent = 0;
let build = '';
const SURFACES: Readonly<Record<string, (text: string) => Promise<void>>> = {
  log: async (text) => send('log', text),
  report: async (text) => send('report', text),
  artifact: async (text) => send('artifact', text),
  search: async (text) => get(`/api/failures?q=${encodeURIComponent(text.slice(0, 2_000))}`),
  pages: async () => {
    for (const path of [`/builds/${build}`, `/logs/${build}`, `/api/builds/${build}/analyses`])
      await get(path);
  },
};
try {
  build = await readAcceptedId(await upload(service, { number: 'first', log: LOG }));
  await waitForAnswers(service, build);
  const held: { name: string; milliseconds: number }[] = [];
  for (const [what, text] of Object.entries(TEXTS))
    for (const [where, attack] of Object.entries(SURFACES)) {
      let least = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < TRIES && least > WANTED_MS; tries++) {
        await measureLongestHold();
        await attack(text);
        least = Math.min(least, await measureLongestHold());
      }
      held.push({ name: `${what} (${where})`, milliseconds: least });
    }
  held.sort((left, right) => right.milliseconds - left.milliseconds);
  const above = held.filter(({ milliseconds }) => milliseconds > WANTED_MS).length;
  const lines = held
    .slice(0, 5)
    .map(({ name, milliseconds }) => `  ${milliseconds.toFixed(0).padStart(5)} ms  ${name}`);
  const longest = held[0]?.milliseconds ?? 0;
  const counts = `${held.length} inputs, the longest hold ${longest.toFixed(0)} ms, ${above} above ${WANTED_MS} ms`;
  const fine = [
    report('event loop', counts, longest > BOUND_MS ? 1 : 0, `wanted ${BOUND_MS} ms at most`),
    reportService(service),
  ];
  console.info(lines.join('\n'));
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}

/**
 * Sends one file with a log that shows a failure, and waits for its answer. A file that is refused was read
 * as well.
 */
async function send(kind: string, text: string): Promise<void> {
  sent += 1;
  const form = new FormData();
  const metadata = {
    repository: 'shop/api',
    pipeline: 'ci',
    number: `held-${sent}`,
    branch: 'main',
    status: 'failed',
  };
  form.set('metadata', JSON.stringify(metadata));
  form.append('log', new Blob([LOG]), 'test.log');
  form.append(kind, new Blob([text]), `${kind}.txt`);
  const headers = { authorization: `Bearer ${service.token}` };
  const response = await fetch(`${service.url}/api/builds`, { method: 'POST', headers, body: form });
  if (response.status >= 400 && response.status < 500) return void (await response.arrayBuffer());
  build = await readAcceptedId(response);
  await waitForAnswers(service, build, 5);
}

async function get(path: string): Promise<void> {
  const response = await fetch(service.url + path, { headers: createAuthorization(service) });
  if (response.status >= 500) throw new Error(`${path.slice(0, 100)} was answered with ${response.status}`);
  await response.arrayBuffer();
}

/** Returns the longest block of any process since the last call, in milliseconds. */
async function measureLongestHold(): Promise<number> {
  const files = service.pids().map((pid) => ({ pid, file: join(folder, `${pid}.json`) }));
  for (const { file } of files) await rm(file, { force: true });
  for (const { pid } of files) process.kill(pid, 'SIGIO');
  while (!files.every(({ file }) => existsSync(file))) await sleep(20);
  await sleep(50);
  const read = await Promise.all(
    files.map(async ({ file }) => Held.parse(JSON.parse(await readFile(file, 'utf8')))),
  );
  return read.reduce((longest, { max }) => Math.max(longest, max), 0);
}
