import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';
import { readCapturedFailures } from '../support/captured-failures.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { type Service, startService, TOKEN } from '../support/service.ts';
import { withSettings } from '../support/settings.ts';
import { THOROUGH } from '../support/thorough.ts';

const [BUILDS, ROUNDS] = THOROUGH ? [12, 3] : [6, 1];
/** A lease longer than the test, so that builds are taken over before it ends. */
const LEASE = withSettings({ triage: { leaseMs: 60 * 60_000 } });
const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const Accepted = z.object({ buildId: z.string() });
const Progress = z.object({ triage: z.object({ state: z.string() }) });

let folder = '';
let service: Service;
afterAll(async () => {
  service.process.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

it('an embedded service that was killed resumes its work at once after a restart', {
  timeout: 300_000,
}, async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-settles-'));
  await copyTestDatabase(join(folder, 'database'));
  service = await startService(folder, LEASE);
  const settled: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const builds = await Promise.all(
      Array.from({ length: BUILDS }, (_, nth) => send(round * BUILDS + nth + 1)),
    );
    await sleep(150 + 200 * round);
    await service.kill('SIGKILL');
    service = await startService(folder, LEASE);

    const startedAt = performance.now();
    for (const buildId of builds) expect(await waitForEnd(buildId), service.errors()).toBe('done');
    const tookMs = performance.now() - startedAt;
    settled.push(`${(tookMs / 1000).toFixed(1)} s`);
  }
  console.info(`${BUILDS} builds settled after a kill and a start: ${settled.join(', ')}`);
});

async function send(number: number): Promise<string> {
  const metadata = { repository: 'shop/api', pipeline: 'ci', number: `${number}`, status: 'failed' };
  const failures = readCapturedFailures();
  const body = JSON.stringify({
    metadata,
    logs: [{ name: 'build.log', text: failures[number % failures.length]?.log ?? '' }],
  });
  const response = await fetch(`${service.address}/api/builds`, { method: 'POST', headers, body });
  return Accepted.parse(await response.json()).buildId;
}

/** Waits until the triage of a build is done, and returns its last state. */
async function waitForEnd(buildId: string): Promise<string> {
  let state = '';
  for (const until = performance.now() + 120_000; state !== 'done' && performance.now() < until; ) {
    const response = await fetch(`${service.address}/api/builds/${buildId}`, { headers });
    state = Progress.parse(await response.json()).triage.state;
    if (state !== 'done') await sleep(50);
  }
  return state;
}
