import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/time.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import type { Database } from '../../../src/ports/database.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { decideReview } from '../../../src/service/review/decide.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { sampleAnalysis, sampleBuild, sampleGroup, sampleReview } from '../../stores/samples.ts';
import { startPostgres, type TestServer, withoutPostgres } from '../../support/postgres.ts';

let server: TestServer;
let database: Database & { close(): Promise<void> };
beforeAll(async () => {
  if (withoutPostgres) return;
  server = await startPostgres();
  database = await openPostgres({ url: await server.createMigrated(), poolSize: 10 });
});
afterAll(async () => {
  await database?.close();
  await server?.dispose();
});

it.skipIf(withoutPostgres)(
  'of library entries for one fingerprint at once, only the one in use is in the index',
  async () => {
    const stores = createStores(database, systemClock);
    const deps = { database, stores, masker: createMasker(), clock: systemClock, logger: silentLogger };
    const reviews = await Promise.all(
      Array.from({ length: 8 }, async (_, nth) => {
        const { build } = await stores.builds.upsert(
          sampleBuild({ number: `${nth}`, externalId: `run-${nth}` }),
        );
        const [group] = await stores.failures.saveGroups(build.id, [sampleGroup(build.id, 'f00d')]);
        const triage = await stores.triages.open(build.id, 'f00d');
        const ids = { buildId: build.id, triageId: triage.id, fingerprint: 'f00d' };
        const failureIds = (group?.failures ?? []).map(({ id }) => id);
        const { analysis } = await stores.analyses.insertOnce(sampleAnalysis(ids, { failureIds }));
        return await stores.reviews.open(sampleReview(analysis));
      }),
    );

    await Promise.all(
      reviews.map(({ id, version }, nth) =>
        decideReview(deps, { reviewId: id, version, reviewer: `r${nth}`, input: { type: 'accept' } }),
      ),
    );

    const answering = await stores.library.recall({
      fingerprint: 'f00d',
      repository: reviews[0]?.repository ?? '',
    });
    const indexed = await database.query(
      `select key as id from work where topic = 'index:error_library' and payload -> 'item' <> 'null'`,
      [],
    );
    expect(indexed).toEqual([{ id: answering?.id }]);
  },
);
