import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openPglite } from '../../src/stores/database/pglite.ts';
import { type CapturedFailure, readCapturedFailures } from '../support/captured-failures.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { type Service, startService, TOKEN } from '../support/service.ts';

const THROWING = pathToFileURL(resolve(import.meta.dirname, '../support/throw-on-signal.ts')).href;
const authorization = { authorization: `Bearer ${TOKEN}` };

let folder = '';
/** Builds that were accepted. */
const sent: string[] = [];
const Accepted = z.object({ buildId: z.string() });
let service: Service;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-stop-'));
  await copyTestDatabase(join(folder, 'database'));
});
afterAll(async () => {
  service.process.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Sends so many builds at once, and remembers those that were accepted. */
async function send(builds: number): Promise<void> {
  const failures: readonly CapturedFailure[] = readCapturedFailures();
  const before = sent.length;
  await Promise.all(
    Array.from({ length: builds }, (_, nth) =>
      sendOne(before + nth + 1, failures[nth % failures.length]?.log ?? ''),
    ),
  );
}

async function sendOne(number: number, text: string): Promise<void> {
  const metadata = { repository: 'shop/api', pipeline: 'ci', number: String(number), status: 'failed' };
  const response = await fetch(`${service.address}/api/builds`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata, logs: [{ name: 'build.log', text }] }),
  });
  expect(response.status).toBe(202);
  sent.push(Accepted.parse(await response.json()).buildId);
}

/** A request that never ends keeps the API from closing. */
async function sendHalf(): Promise<void> {
  const { hostname, port } = new URL(service.address);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head = [
    'POST /api/builds HTTP/1.1',
    'host: x',
    `authorization: Bearer ${TOKEN}`,
    'content-type: application/json',
    'content-length: 9',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n{`);
}

const counts = z.array(z.object({ state: z.string(), n: z.int() }));

async function getEnd(buildId: string): Promise<string> {
  for (let tries = 0; tries < 600; tries++) {
    const response = await fetch(`${service.address}/api/builds/${buildId}`, { headers: authorization });
    const { state } = z
      .object({ triage: z.object({ state: z.string() }) })
      .parse(await response.json()).triage;
    if (state === 'done' || state === 'failed') return state;
    await new Promise((later) => setTimeout(later, 100));
  }
  throw new Error(`build ${buildId} was never finished`);
}

/** How many jobs are in each state, after the process has gone. */
async function countJobs(): Promise<Record<string, number>> {
  const database = await openPglite({ dataDir: join(folder, 'database') });
  const rows = counts.parse(
    await database.query(`
      select case when held then 'running' when version > settled then 'queued' else outcome end as state, count(*)::int as n
      from work where topic = 'triage' group by 1`),
  );
  await database.close();
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}

describe('a service that stops under load', () => {
  it('T66: lets running work finish after SIGTERM during fifty runs, releases the rest, and exits with 0', async () => {
    service = await startService(folder);
    await send(50);
    expect(await service.kill('SIGTERM')).toBe(0);
    const { running = 0, queued = 0, done = 0, failed = 0 } = await countJobs();
    expect({ running, failed, all: queued + done }).toEqual({ running: 0, failed: 0, all: 50 });
    expect(queued).toBeGreaterThan(0);
    console.info(`SIGTERM during 50 runs: ${done} ended, ${queued} given back; lost: 0`);
  });

  it.each(['SIGALRM', 'SIGPROF'] as const)(
    'T67: drains after an uncaught error (by %s) and exits with 1',
    async (signal) => {
      service = await startService(folder, { NODE_OPTIONS: `--import=${THROWING}` });
      await send(5);
      const ended = once(service.process, 'exit');
      service.process.kill(signal);
      expect((await ended)[0]).toBe(1);
      expect(service.errors()).toContain('stopping after an unhandled error');
      expect((await countJobs()).running ?? 0).toBe(0);
    },
  );

  it('T66: exits at once after a second signal, and loses nothing', { timeout: 300_000 }, async () => {
    service = await startService(folder);
    await send(5);
    await sendHalf();
    service.process.kill('SIGTERM');
    while (!service.errors().includes('finishing current jobs'))
      await new Promise((later) => setTimeout(later, 10));
    expect(await service.kill('SIGTERM')).not.toBe(0);

    service = await startService(folder);
    const states: string[] = [];
    for (const id of sent) states.push(await getEnd(id));
    expect(states.filter((state) => state !== 'done')).toEqual([]);
    expect(await service.kill('SIGTERM')).toBe(0);
    console.info(
      `${sent.length} builds through 4 stops (SIGTERM, two uncaught errors, two signals): ${states.length} answered; lost: 0`,
    );
  });
});
