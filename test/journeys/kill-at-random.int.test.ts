import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Step } from '../../src/domain/analysis.ts';
import { openPglite } from '../../src/stores/database/pglite.ts';
import { type CapturedFailure, readCapturedFailures } from '../support/captured-failures.ts';
import { findWalkError } from '../support/graph-walk.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { type Service, startService, TOKEN } from '../support/service.ts';
import { withSettings } from '../support/settings.ts';

const BUILDS = 20;
const KILLS = 10;
/** Kills from outside are no fault of what was running. */
const SETTINGS = withSettings({ triage: { maxCrashes: 100 } });
const Accepted = z.object({ buildId: z.string() });
const Progress = z.object({ triage: z.object({ state: z.string(), error: z.string().nullable() }) });

let folder = '';
let service: Service;
afterAll(async () => {
  service.process.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

describe('kill -9', () => {
  it(`T02: at ${KILLS} random points during ${BUILDS} builds loses nothing and answers nothing twice`, {
    timeout: 300_000,
  }, async () => {
    folder = await mkdtemp(join(tmpdir(), 'faultline-kill-'));
    await copyTestDatabase(join(folder, 'database'));
    service = await startService(folder, SETTINGS);
    const failures = readCapturedFailures();
    const builds = Array.from({ length: BUILDS }, (_, index) => ({
      number: index + 1,
      failure: failures[(index * 5) % failures.length],
    }));
    const accepted = new Map<number, string>();
    const sending = sendAll(builds, accepted);

    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(100 + Math.random() * 900);
      await service.kill('SIGKILL');
      service = await startService(folder, SETTINGS);
    }
    await sending;
    for (const buildId of accepted.values())
      expect(await getEnd(buildId)).toEqual({ state: 'done', error: null });
    expect(await service.kill('SIGTERM')).toBe(0);

    const found = await inspect(join(folder, 'database'));
    expect(found.builds).toBe(BUILDS);
    expect(found.groupsWithoutAnalysis).toBe(0);
    expect(found.analyses).toBe(found.groups);
    expect(found.reviews).toBe(found.forPeople);
    expect(found.givenUp).toEqual([]);
    expect(found.faults).toEqual([]);
    expect(found.checkpoints).toBe(0);
    expect(found.owedOutside).toBe(0);
    expect(found.told).toBe(found.analyses - found.forPeople);
    console.info(
      `${found.builds} builds, ${found.groups} failure groups, ${found.analyses} analyses, ${found.reviews} reviews, ${found.told} told; lost: 0`,
    );
  });
});

/** Sends each build until it is accepted, as a CI would: the same key again when the service was gone. */
async function sendAll(
  builds: readonly { number: number; failure: CapturedFailure | undefined }[],
  accepted: Map<number, string>,
): Promise<void> {
  for (const { number, failure } of builds) {
    while (!accepted.has(number)) {
      const buildId = await send(number, failure?.log ?? '').catch(() => null);
      if (buildId === null) await sleep(100);
      else accepted.set(number, buildId);
    }
  }
}

async function send(number: number, log: string): Promise<string> {
  const response = await fetch(`${service.address}/api/builds`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'idempotency-key': `build-${number}`,
    },
    body: JSON.stringify({
      metadata: { repository: 'shop/api', pipeline: 'ci', number: `${number}`, status: 'failed' },
      logs: [{ name: 'build.log', text: log }],
    }),
  });
  if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
  return Accepted.parse(await response.json()).buildId;
}

async function getEnd(buildId: string): Promise<{ state: string; error: string | null }> {
  for (let tries = 0; tries < 600; tries++) {
    const response = await fetch(`${service.address}/api/builds/${buildId}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const { triage } = Progress.parse(await response.json());
    if (triage.state === 'done' || triage.state === 'failed')
      return { state: triage.state, error: triage.error };
    await sleep(100);
  }
  throw new Error(`build ${buildId} was never finished: ${service.errors()}`);
}

/** Counts in the database itself, after the service has gone. */
async function inspect(dataDir: string) {
  const database = await openPglite({ dataDir });
  const count = async (sql: string) => z.int().parse((await database.query<{ n: number }>(sql))[0]?.n);
  const runs = await database.query<{ id: string; steps: unknown }>(
    `select id, body -> 'steps' as steps from analyses`,
  );
  const faults = runs.flatMap(({ id, steps }) => {
    const fault = findWalkError(z.array(Step).parse(steps));
    return fault === null ? [] : [`${id}: ${fault}`];
  });
  const result = {
    builds: await count('select count(*)::int as n from builds'),
    groups: await count('select count(distinct (build_id, group_number))::int as n from failures'),
    analyses: await count('select count(*)::int as n from analyses'),
    groupsWithoutAnalysis: await count(
      `select count(*)::int as n from triages where state <> 'concluded' or analysis_id is null`,
    ),
    reviews: await count('select count(*)::int as n from reviews'),
    forPeople: await count(`select count(*)::int as n from analyses where action <> 'auto_notify'`),
    givenUp: await database.query(
      `select body -> 'answer' -> 'rootCause' as why from analyses where body ->> 'terminationReason' = 'failed'`,
    ),
    owedOutside: await count(
      `select count(*)::int as n from work where topic like 'publish:%' and outcome is distinct from 'done'`,
    ),
    told: await count(
      `select count(*)::int as n from work where topic like 'publish:%' and outcome = 'done'`,
    ),
    checkpoints: await count('select count(*)::int as n from checkpoints.checkpoints'),
    faults,
  };
  await database.close();
  return result;
}
