import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { createMongodbArchive } from '../../src/stores/archive/mongodb.ts';
import { createArchiveWithFallback } from '../../src/stores/archive/with-fallback.ts';
import { createWorkStore } from '../../src/stores/work.ts';
import { readCapturedFailures } from '../support/captured-failures.ts';
import { type InstalledDatabase, installDatabase } from '../support/installed-database.ts';
import { queryDatabase, startMongodb, type TestMongodb, withoutMongodb } from '../support/mongodb.ts';
import { type Service, startService, TOKEN } from '../support/service.ts';
import { THOROUGH } from '../support/thorough.ts';

/** Of each: sent before MongoDB dies, while it is away, after it came back. */
const BUILDS = THOROUGH ? 6 : 2;
const Accepted = z.object({ buildId: z.string() });
const Readiness = z.object({ backends: z.record(z.string(), z.string()) });
const Progress = z.object({ triage: z.object({ state: z.string(), error: z.string().nullable() }) });

let folder = '';
let installed: InstalledDatabase;
let service: Service;
let mongodb: TestMongodb;
afterAll(async () => {
  service?.process.kill('SIGKILL');
  await mongodb?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(withoutMongodb)('MongoDB', () => {
  it('T29: may be down at the start, before, during and after runs, without loss or delay', {
    timeout: 240_000,
  }, async () => {
    folder = await mkdtemp(join(tmpdir(), 'faultline-mongodb-away-'));
    installed = await installDatabase(folder);
    mongodb = await startMongodb();
    const name = mongodb.database();
    await mongodb.kill();
    const archive = { ...installed.environment, FAULTLINE_MONGODB_URL: queryDatabase(mongodb.url, name) };
    service = await startService(folder, archive);

    // Away from the start: taken, and triaged from the database.
    const builds = await send(1, BUILDS);
    for (const id of builds) expect(await getEnd(id)).toEqual({ state: 'done', error: null });
    await mongodb.resume();
    await expect.poll(readArchiveState, { timeout: 120_000, interval: 250 }).toBe('ok');

    // It dies while these are triaged, and freezes while those are that come after.
    builds.push(...(await send(BUILDS + 1, 2 * BUILDS)));
    await mongodb.kill();
    builds.push(...(await send(2 * BUILDS + 1, 3 * BUILDS)));
    await mongodb.resume();
    await expect.poll(readArchiveState, { timeout: 120_000, interval: 250 }).toBe('ok');
    await mongodb.pause();
    builds.push(...(await send(3 * BUILDS + 1, 4 * BUILDS)));
    await mongodb.resume();
    for (const id of builds) expect(await getEnd(id)).toEqual({ state: 'done', error: null });
    expect(await service.kill('SIGTERM')).toBe(0);

    const [{ lost, ...found }, away] = [await inspect(name, builds), await countTexts(name)];
    console.info(
      `${found.builds} builds, ${found.groups} failure groups, ${found.analyses} analyses, ${away} logs in MongoDB, ${found.here} in PostgreSQL; lost: ${lost}`,
    );
    expect({ lost, away }).toEqual({ lost: 0, away: BUILDS });
    expect(found).toEqual({
      builds: builds.length,
      groups: found.groups,
      analyses: found.groups,
      here: builds.length - away,
      removals: 0,
    });
  });
});

async function send(first: number, last: number): Promise<string[]> {
  const failures = readCapturedFailures();
  const ids: string[] = [];
  for (let number = first; number <= last; number += 1) {
    const failure = failures[(number * 5) % failures.length];
    if (failure === undefined) throw new Error('there is no captured failure');
    const response = await fetch(`${service.address}/api/builds`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        metadata: { repository: 'acme/away', pipeline: 'ci', number: String(number), status: 'failed' },
        logs: [{ name: 'build.log', text: failure.log }],
      }),
    });
    expect(response.status).toBe(202);
    ids.push(Accepted.parse(await response.json()).buildId);
  }
  return ids;
}

async function getEnd(buildId: string): Promise<z.infer<typeof Progress>['triage']> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const response = await fetch(`${service.address}/api/builds/${buildId}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const { triage } = Progress.parse(await response.json());
    if (triage.state === 'done' || triage.state === 'failed') return triage;
    await sleep(150);
  }
  throw new Error(`build ${buildId} was not triaged`);
}

async function readArchiveState(): Promise<string | undefined> {
  return Readiness.parse(await (await fetch(`${service.address}/readyz`)).json()).backends.archive;
}

async function countTexts(name: string): Promise<number> {
  const client = new MongoClient(mongodb.url, { serverSelectionTimeoutMS: 2_000 });
  try {
    return await client.db(name).collection('archive_sources').countDocuments({});
  } finally {
    await client.close();
  }
}

async function inspect(name: string, builds: readonly string[]): Promise<Record<string, number>> {
  const database = await installed.open();
  const [row] = await database.query<Record<string, number>>(`
    select (select count(*)::int from builds) as builds,
      (select count(distinct (build_id, fingerprint))::int from failures) as groups,
      (select count(*)::int from analyses) as analyses,
      (select count(*)::int from build_sources where driver = 'postgres') as here,
      (select count(*)::int from work where topic = 'remove-logs:mongodb') as removals`);
  const there = createMongodbArchive({ url: mongodb.url, database: name });
  const archive = createArchiveWithFallback({
    mongodb: there,
    database,
    work: createWorkStore(database),
    logger: silentLogger,
  });
  let lost = 0;
  for (const id of builds) {
    const [stored] = await archive.list(id);
    if (stored === undefined || (await archive.read(id, stored.name))?.split('\n').length !== stored.lines)
      lost += 1;
  }
  await archive.close?.();
  await database.close();
  return { ...row, lost };
}
