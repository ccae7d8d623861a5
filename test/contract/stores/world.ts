import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Analysis } from '../../../src/domain/analysis.ts';
import type { Build, NewBuild } from '../../../src/domain/build.ts';
import { createId } from '../../../src/domain/ids.ts';
import type { Review } from '../../../src/domain/review.ts';
import type { Database } from '../../../src/ports/database.ts';
import type { Stores } from '../../../src/stores/stores.ts';
import { type OpenReview, sampleAnalysis, sampleBuild, sampleReview } from '../../stores/samples.ts';

export interface StoresUnderTest {
  readonly db: Database;
  /** Stores whose clock reads `now.value`. */
  readonly stores: Stores;
  readonly now: { value: number };
  dispose(): Promise<void>;
}

/** What the tests of the stores work with. Each test has a repository of its own. */
export interface StoresWorld {
  readonly stores: Stores;
  readonly db: Database;
  readonly now: { value: number };
  readonly repository: string;
  /** The number of the test. */
  readonly count: number;
  /** Stores a build, a second later than the one before. */
  build(change?: Partial<NewBuild>): Promise<Build>;
  storeAnalysis(build: Build, fingerprint: string, change?: Partial<Analysis>): Promise<Analysis>;
  openReview(change?: Partial<OpenReview>): Promise<Review>;
}

export const PAGE = { limit: 50, offset: 0 };

/** Opens the stores around the tests of the suite it is called in. */
export function createStoresWorld(open: () => Promise<StoresUnderTest>): StoresWorld {
  let under: StoresUnderTest;
  let count = 0;
  beforeAll(async () => {
    under = await open();
  });
  afterAll(async () => under.dispose());
  beforeEach(() => {
    count += 1;
    under.now.value = Date.parse('2026-03-01T00:00:00.000Z') + count * 3_600_000;
  });

  const world: StoresWorld = {
    get stores() {
      return under.stores;
    },
    get db() {
      return under.db;
    },
    get now() {
      return under.now;
    },
    get count() {
      return count;
    },
    get repository() {
      return `acme/shop-${count}`;
    },
    build: async (change = {}) => {
      under.now.value += 1000;
      return (await under.stores.builds.upsert(sampleBuild({ repository: world.repository, ...change })))
        .build;
    },
    storeAnalysis: async (build, fingerprint, change = {}) => {
      const { stores, db } = under;
      const triage = await stores.triages.open(build.id, fingerprint);
      const wanted = sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint }, change);
      const { analysis } = await stores.analyses.insertOnce(wanted);
      await db.transaction((sql) => stores.triages.conclude(triage.id, analysis.id, sql));
      return analysis;
    },
    openReview: async (change = {}) => {
      const analysis = await world.storeAnalysis(
        await world.build({ number: createId('bld') }),
        createId('fal'),
      );
      return await under.stores.reviews.open(
        sampleReview(analysis, { repository: world.repository, ...change }),
      );
    },
  };
  return world;
}
