import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openPglite } from '../../src/stores/database/pglite.ts';
import { openPostgres } from '../../src/stores/database/postgres.ts';
import { BARE, SCRIPT_OPTIONS } from '../support/bare-environment.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { startPostgres, withoutPostgres } from '../support/postgres.ts';
import { THOROUGH } from '../support/thorough.ts';
import { createGithubExample, signForGithub } from '../support/webhook-senders.ts';

const SCRIPT = resolve(import.meta.dirname, '../support/die-at-intake.ts');
const AROUND = ['landed', 'answered', 'recorded', 'ringing'] as const;
/** Where processes die on each database; in a short run half of the places, the others on the other. */
const PLACES = THOROUGH
  ? { embedded: AROUND, postgres: AROUND }
  : { embedded: ['landed', 'recorded'] as const, postgres: ['answered', 'ringing'] as const };
/** How often a pair of processes is killed at random. */
const PAIRS = THOROUGH ? 3 : 1;

interface Api {
  readonly process: ChildProcess;
  readonly address: string;
  readonly exited: Promise<unknown[]>;
  notified(): string[];
}

async function openApi(database: string, place: string): Promise<Api> {
  const child = spawn(process.execPath, [...SCRIPT_OPTIONS, SCRIPT, database, place], {
    env: BARE,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let said = '';
  const address = await new Promise<string>((found, failed) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const listening = /listening on (\S+)/.exec(said)?.[1];
      if (listening !== undefined) found(listening);
    });
    child.once('exit', (code) => failed(new Error(`the API ended with ${code}`)));
  });
  return {
    process: child,
    address,
    exited,
    notified: () => said.split('\n').filter((line) => line.startsWith('enqueued ')),
  };
}

/** Tells of a failed run, by an id of its own; whether the sender was told that it is accepted. */
async function tell({ address }: Api, run: number): Promise<boolean> {
  const changes = { workflow_run: { id: 5_000 + run, run_number: run, conclusion: 'failure' } };
  const body = JSON.stringify(createGithubExample('workflow_run', 'completed', changes, 1));
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'workflow_run',
    'x-github-delivery': `run-${run}`,
    'x-hub-signature-256': signForGithub(body),
  };
  const response = await fetch(`${address}/webhooks/github`, { method: 'POST', headers, body }).catch(
    () => null,
  );
  if (response !== null && response.status !== 202)
    throw new Error(`run ${run}: ${response.status} ${await response.text()}`);
  return response !== null;
}

interface Count {
  readonly deliveries: number;
  readonly recorded: number;
  readonly builds: number;
  readonly jobs: number;
}

const COUNT = `select (select count(*)::int from deliveries) as deliveries,
  (select count(*)::int from deliveries d join builds b on b.id = d.build_id where d.state = 'recorded') as recorded,
  (select count(*)::int from builds) as builds, (select count(*)::int from work where topic = 'triage') as jobs`;

async function count(database: string): Promise<Count> {
  const db = database.startsWith('postgres')
    ? await openPostgres({ url: database, poolSize: 2 })
    : await openPglite({ dataDir: database });
  const [row] = await db.query<Count>(COUNT);
  await db.close();
  return row ?? { deliveries: 0, recorded: 0, builds: 0, jobs: 0 };
}

/** One process after the other dies; the senders who were not told send again. Returns what is stored at last. */
async function dieAndCount(database: string, places: readonly string[]) {
  const untold: number[] = [];
  let told = 0;
  for (const [at, place] of places.entries()) {
    const api = await openApi(database, place);
    if (await tell(api, at + 1)) told += 1;
    else untold.push(at + 1);
    const [, signal] = await api.exited;
    expect([place, signal]).toEqual([place, 'SIGKILL']);
  }
  // What landed in this process's hands, and what dead ones left.
  const api = await openApi(database, 'nowhere');
  for (const run of untold) expect(await tell(api, run)).toBe(true);
  expect(await tell(api, places.length + 1)).toBe(true);
  await delay(1_500);
  const notified = api.notified().length;
  api.process.kill('SIGKILL');
  await api.exited;
  return { kills: places.length, told: told + untold.length + 1, notified, count: await count(database) };
}

describe('T01: if the API dies between any two writes, an accepted delivery is stored exactly once', () => {
  const check = ({
    kills,
    told,
    notified,
    count: { deliveries, recorded, builds, jobs },
  }: Awaited<ReturnType<typeof dieAndCount>>) => {
    console.info(
      `T01 at the API: ${kills} kills, ${told} deliveries told 202; kept ${deliveries}, builds ${builds}, jobs ${jobs}; lost: ${told - recorded}`,
    );
    const all = kills + 1;
    expect({ told, deliveries, recorded, builds, jobs }).toEqual({
      told: all,
      deliveries: all,
      recorded: all,
      builds: all,
      jobs: all,
    });
    // One was notified of by the process that died while notifying; its job is pending, and the sweeper of the jobs notifies.
    expect(notified).toBeGreaterThanOrEqual(1);
  };

  it('on the embedded database', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'faultline-api-'));
    check(await dieAndCount(await copyTestDatabase(join(folder, 'database')), PLACES.embedded));
    await rm(folder, { recursive: true, force: true });
  });

  it.skipIf(withoutPostgres)('on PostgreSQL', async () => {
    const server = await startPostgres();
    check(await dieAndCount(await server.createMigrated(), PLACES.postgres));
    await server.dispose();
  });
});

describe('T02: if the API is killed at random during many deliveries', () => {
  it.skipIf(withoutPostgres)('two processes lose and duplicate nothing', async () => {
    const server = await startPostgres();
    const database = await server.createMigrated();
    const told = new Set<number>();
    let run = 0;
    for (let kills = 0; kills < PAIRS; kills += 1) {
      const pair = await Promise.all([openApi(database, 'nowhere'), openApi(database, 'nowhere')]);
      const telling = Array.from({ length: 40 }, async (_, index) => {
        run += 1;
        const [own, api] = [run, pair[index % 2]];
        await delay(index * 5);
        // Each second one comes through both APIs, as when a proxy tries again.
        const both = api === undefined ? [] : index % 4 < 2 ? [api] : pair;
        if ((await Promise.all(both.map((other) => tell(other, own)))).includes(true)) told.add(own);
      });
      await Promise.all(
        pair.map(async (api, index) => {
          await delay(60 + 60 * index + Math.random() * 100);
          api.process.kill('SIGKILL');
          await api.exited;
        }),
      );
      await Promise.all(telling);
    }
    const last = await openApi(database, 'nowhere');
    await expect
      .poll(async () => (await count(database)).recorded, { timeout: 20_000, interval: 300 })
      .toBe((await count(database)).deliveries);
    last.process.kill('SIGKILL');
    await last.exited;
    const db = await openPostgres({ url: database, poolSize: 2 });
    const kept = await db.query<{ run: string; builds: number }>(
      `select d.delivery_id as run, (select count(*)::int from builds b where b.id = d.build_id) as builds from deliveries d`,
    );
    await db.close();
    const stored = new Set(kept.filter(({ builds }) => builds === 1).map(({ run: id }) => id));
    const lost = [...told].filter((own) => !stored.has(`run-${own}`));
    const { deliveries, builds, jobs } = await count(database);
    console.info(
      `T02 at the API: ${2 * PAIRS} kills, ${told.size} of ${run} told 202; kept ${deliveries}, builds ${builds}, jobs ${jobs}; lost: ${lost.length}`,
    );
    expect(lost).toEqual([]);
    expect([builds, jobs]).toEqual([deliveries, deliveries]);
    await server.dispose();
  });
});
