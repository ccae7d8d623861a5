import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { CATEGORIES } from '../../src/domain/category.ts';
import { readCapturedFailures } from '../support/captured-failures.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { type Service, startService, TOKEN } from '../support/service.ts';
import { THOROUGH } from '../support/thorough.ts';
import { connectAgentOverHttp, connectAgentOverStdio, findCause } from './agent.ts';

/** Four of each category, one in a short run, the first by name: nobody chose those that go well. */
const FAILURES = CATEGORIES.flatMap((category) =>
  readCapturedFailures()
    .filter((failure) => failure.category === category)
    .slice(0, THOROUGH ? 4 : 1),
);
const Accepted = z.object({ buildId: z.string() });
const Waited = z.object({ triage: z.object({ state: z.string() }).nullable() });
const headers = { authorization: `Bearer ${TOKEN}` };

const data = mkdtempSync(join(tmpdir(), 'faultline-agents-'));
let service: Service;

beforeAll(async () => {
  await copyTestDatabase(join(data, 'database'));
  service = await startService(data);
  const builds = await Promise.all(
    FAILURES.map(async ({ slug, log }, index) => await upload(slug, log, index)),
  );
  for (const build of builds) await waitForAnalysis(build);
});
afterAll(async () => {
  await service?.kill('SIGKILL');
  rmSync(data, { recursive: true, force: true });
});

test('an agent finds the cause over HTTP', async () => {
  await measure('HTTP', await connectAgentOverHttp(service.address, TOKEN));
});

test('an agent finds the cause over standard input and output, from a running service', async () => {
  await measure(
    'stdio, a service',
    await connectAgentOverStdio(['--url', service.address, '--token', TOKEN]),
  );
});

test('an agent finds the cause over standard input and output, from a data directory that is not served', async () => {
  await service.kill('SIGTERM');
  await measure('stdio, a data directory', await connectAgentOverStdio(['--data', data]));
});

/** Goal: the cause of each in at most three calls and eight kilobytes. */
async function measure(way: string, client: Client): Promise<void> {
  const found = [];
  for (const failure of FAILURES)
    found.push({ slug: failure.slug, ...(await findCause(client, `captured/${failure.slug}`, failure)) });
  await client.close();
  const [calls, bytes] = [
    Math.max(...found.map((one) => one.calls)),
    Math.max(...found.map((one) => one.bytes)),
  ];
  process.stdout.write(`${found.length} failures, max calls ${calls}, max bytes ${bytes} (${way})\n`);
  expect(found.filter((one) => !one.found)).toEqual([]);
  expect(found).toHaveLength(THOROUGH ? 20 : 5);
  expect(calls).toBeLessThanOrEqual(3);
  expect(bytes).toBeLessThanOrEqual(8192);
}

async function upload(slug: string, log: string, index: number): Promise<string> {
  const body = new FormData();
  body.set(
    'metadata',
    JSON.stringify({
      repository: `captured/${slug}`,
      pipeline: 'ci',
      number: `${index + 1}`,
      branch: 'main',
    }),
  );
  body.set('log', new Blob([log]), 'build.log');
  const sent = { method: 'POST', headers: { ...headers, 'idempotency-key': `captured-${slug}` }, body };
  return Accepted.parse(await (await fetch(`${service.address}/api/builds`, sent)).json()).buildId;
}

async function waitForAnalysis(buildId: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${service.address}/api/builds/${buildId}/analyses`, { headers });
    const state = Waited.parse(await answer.json()).triage?.state;
    if (state === 'done') return;
    if (state === 'failed') throw new Error(`the triage of ${buildId} failed`);
    await sleep(50);
  }
}
