import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';
import { capturedFailures } from '../support/captured-failures.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { type Service, startService, TOKEN } from '../support/service.ts';
import { THOROUGH } from '../support/thorough.ts';

const BUILDS = 12;
const ROUNDS = THOROUGH ? 3 : 1;
/** Far beyond what it takes, and far below the 30 seconds of a lease. */
const SETTLED_MS = 20_000;
const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const Accepted = z.object({ buildId: z.string() });
const Progress = z.object({ triage: z.object({ state: z.string() }) });

let folder = '';
let service: Service;
afterAll(async () => {
  service.process.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

it('an embedded service that was killed takes over at once what it was working on', {
  timeout: 180_000,
}, async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-settles-'));
  await copyTestDatabase(join(folder, 'database'));
  service = await startService(folder);
  const settled: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const builds = await Promise.all(
      Array.from({ length: BUILDS }, (_, nth) => send(round * BUILDS + nth + 1)),
    );
    await sleep(150 + 200 * round);
    await service.kill('SIGKILL');
    service = await startService(folder);

    const startedAt = performance.now();
    for (const buildId of builds) await ended(buildId);
    const tookMs = performance.now() - startedAt;
    settled.push(`${(tookMs / 1000).toFixed(1)} s`);
    expect(tookMs).toBeLessThan(SETTLED_MS);
  }
  console.info(`${BUILDS} builds settled after a kill and a start: ${settled.join(', ')}`);
});

async function send(number: number): Promise<string> {
  const metadata = { repository: 'shop/api', pipeline: 'ci', number: `${number}`, status: 'failed' };
  const failures = capturedFailures();
  const body = JSON.stringify({
    metadata,
    logs: [{ name: 'build.log', text: failures[number % failures.length]?.log ?? '' }],
  });
  const response = await fetch(`${service.address}/api/builds`, { method: 'POST', headers, body });
  return Accepted.parse(await response.json()).buildId;
}

async function ended(buildId: string): Promise<void> {
  for (const startedAt = performance.now(); performance.now() - startedAt < 60_000; await sleep(50)) {
    const response = await fetch(`${service.address}/api/builds/${buildId}`, { headers });
    if (Progress.parse(await response.json()).triage.state === 'done') return;
  }
  throw new Error(`build ${buildId} was never finished: ${service.errors()}`);
}
