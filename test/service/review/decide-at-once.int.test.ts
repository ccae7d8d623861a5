import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import type { DecisionInput } from '../../../src/domain/review.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import type { Database } from '../../../src/ports/database.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { decideReview } from '../../../src/service/review/decide.ts';
import { openPglite } from '../../../src/stores/database/pglite.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';
import { createStores, type Stores } from '../../../src/stores/stores.ts';
import { sampleAnalysis, sampleBuild, sampleGroup, sampleReview } from '../../stores/samples.ts';
import { BARE, SCRIPT_OPTIONS } from '../../support/bare-environment.ts';
import { openEmbeddedDatabase } from '../../support/pglite.ts';
import { startPostgres, withoutPostgres } from '../../support/postgres.ts';

const SCRIPT = resolve(import.meta.dirname, '../../support/decide-and-die.ts');
const MANY = 20;

/** An open review of a failure that can be taught. */
async function openReview(stores: Stores) {
  const { build } = await stores.builds.upsert(sampleBuild());
  const [group] = await stores.failures.saveGroups(build.id, [sampleGroup(build.id, 'f00d')]);
  const triage = await stores.triages.open(build.id, 'f00d');
  const failureIds = (group?.failures ?? []).map(({ id }) => id);
  const { analysis } = await stores.analyses.insertOnce(
    sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint: 'f00d' }, { failureIds }),
  );
  return await stores.reviews.open(sampleReview(analysis));
}

/** What is stored of decisions: all of it, or nothing. */
async function listTaught(stores: Stores, reviewId: string) {
  const events = (await stores.reviews.events(reviewId)).filter(({ event }) => event === 'decided').length;
  const review = await stores.reviews.find(reviewId);
  const entries = (await stores.library.list({ limit: 100, offset: 0 })).length;
  return {
    decided: review?.decision === null ? 0 : 1,
    events,
    entries,
    owedToIndex: (await stores.work.waiting('index:error_library')).count,
  };
}

async function decideAtOnce(database: Database): Promise<void> {
  const stores = createStores(database, systemClock);
  const { id, version } = await openReview(stores);
  const deps = { database, stores, masker: createMasker(), clock: systemClock, logger: silentLogger };
  const inputs: readonly DecisionInput[] = [
    { type: 'accept' },
    { type: 'correct', category: 'INFRA_ERROR', rootCause: 'The disk is full' },
  ];
  const decide = (nth: number) =>
    decideReview(deps, {
      reviewId: id,
      version,
      reviewer: `reviewer-${nth}`,
      input: inputs[nth % 2] ?? { type: 'accept' },
    });

  const ends = await Promise.allSettled(Array.from({ length: MANY }, (_, nth) => decide(nth)));

  const won = ends.flatMap((end) =>
    end.status === 'fulfilled' ? [end.value.review.decision?.reviewer] : [],
  );
  const lost = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  expect(won).toHaveLength(1);
  for (const error of lost)
    expect(error).toMatchObject({
      code: 'conflict',
      details: { review: { decision: { reviewer: won[0] } } },
    });
  expect(await listTaught(stores, id)).toEqual({ decided: 1, events: 1, entries: 1, owedToIndex: 1 });
  // T62: who looks at an outdated version is told so, and changes nothing.
  await expect(decide(0)).rejects.toMatchObject({ code: 'conflict' });
  expect(await listTaught(stores, id)).toEqual({ decided: 1, events: 1, entries: 1, owedToIndex: 1 });
  console.info(
    `${database.driver}: ${MANY} decisions at once, 1 stored, ${lost.length} told who was first, 1 lesson; lost: 0, doubled: 0`,
  );
}

it('T61, T62: of many decisions at once one counts, on the embedded database', async () => {
  const database = await openEmbeddedDatabase();
  await decideAtOnce(database);
  await database.dispose();
});

it.skipIf(withoutPostgres)('T61, T62: of many decisions at once one counts, on PostgreSQL', async () => {
  const server = await startPostgres();
  const database = await openPostgres({ url: await server.createMigrated(), poolSize: 10 });
  await decideAtOnce(database);
  await database.close();
  await server.dispose();
});

it('T01: a decision whose process is killed is stored with its library entry, or not at all', async () => {
  const prepared = await openEmbeddedDatabase();
  const { id } = await openReview(createStores(prepared, systemClock));
  await prepared.close();
  for (const [place, stored] of [
    ['deciding', 0],
    ['decided', 1],
  ] as const) {
    const child = spawn(process.execPath, [...SCRIPT_OPTIONS, SCRIPT, prepared.dataDir, place, id], {
      env: BARE,
      stdio: 'inherit',
    });
    const [, signal] = await once(child, 'exit');
    expect(signal, place).toBe('SIGKILL');
    const after = await openPglite({ dataDir: prepared.dataDir });
    const found = await listTaught(createStores(after, systemClock), id);
    await after.close();
    expect(found).toEqual({ decided: stored, events: stored, entries: stored, owedToIndex: stored });
  }
  console.info('2 kills around a decision: nothing before the commit, all of it after; halves: 0');
});
