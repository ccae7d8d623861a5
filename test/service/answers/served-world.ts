import type { FastifyInstance } from 'fastify';
import { buildHttp } from '../../../src/api/server.ts';
import { COMMON, parseConfig } from '../../../src/config/schema.ts';
import type { Analysis } from '../../../src/domain/analysis.ts';
import type { Build } from '../../../src/domain/build.ts';
import type { Failure } from '../../../src/domain/failure.ts';
import type { Review } from '../../../src/domain/review.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import type { BuildArchive } from '../../../src/ports/build-archive.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import type { VectorIndex } from '../../../src/ports/vector-index.ts';
import { indexNow } from '../../../src/service/index-work.ts';
import { createStores, type Stores } from '../../../src/stores/stores.ts';
import { createPgvectorIndex } from '../../../src/stores/vectors/pgvector.ts';
import { createEmptyHttpDeps } from '../../support/http-deps.ts';
import { openTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { sampleAnalysis, sampleBuild, sampleFailure, sampleReview } from '../../support/sample-analysis.ts';

/** The real routes over the real stores on an embedded database; only archive and queue are mute. */
export interface ServedWorld {
  readonly http: FastifyInstance;
  readonly database: TestDatabase;
  readonly stores: Stores;
  readonly vectorIndex: VectorIndex;
  /** Asks as the holder of `name`'s token: ada and bob review, rita reads, runner reports builds. */
  ask(
    name: 'ada' | 'bob' | 'rita' | 'runner',
    method: 'GET' | 'POST',
    url: string,
    payload?: object,
  ): Promise<Answered>;
  close(): Promise<void>;
}

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads into the JSON it expects
  readonly body: any;
  readonly headers: Readonly<Record<string, unknown>>;
}

const token = (name: string) => `token-of-${name}-0123456789`;

export async function openServedWorld(claimMs = 60_000): Promise<ServedWorld> {
  const database = await openTestDatabase();
  const stores = createStores(database, systemClock);
  const vectorIndex = await createPgvectorIndex(database, createHashingEmbedder());
  const config = parseConfig({
    ...COMMON,
    http: { ...COMMON.http, rateLimit: 10_000 },
    auth: {
      ...COMMON.auth,
      tokens: [
        { name: 'ada', token: token('ada'), roles: ['read', 'review'] },
        { name: 'bob', token: token('bob'), roles: ['read', 'review'] },
        { name: 'rita', token: token('rita'), roles: ['read'] },
        { name: 'runner', token: token('runner'), roles: ['ingest'] },
      ],
    },
    review: { ...COMMON.review, claimMs },
    database: { driver: 'pglite', dataDir: '/data' },
    jobQueue: { driver: 'database', concurrency: 1, inServe: true },
    buildArchive: { driver: 'postgres' },
    vectorIndex: { driver: 'pgvector' },
    knowledge: { folder: 'knowledge' },
    runs: { folder: '/data/runs' },
  });
  const http = await buildHttp({
    config,
    stores,
    database,
    vectorIndex,
    indexNow: (namespace, ids) =>
      indexNow({ ...stores, vectorIndex, masker: createMasker(), logger: silentLogger }, namespace, ids),
    archive: muteArchive,
    notifier: { notify: () => undefined, settle: async () => undefined },
    masker: createMasker(),
    ask: createEmptyHttpDeps().ask,
    repositoryAsk: createEmptyHttpDeps().repositoryAsk,
    knowledge: createEmptyHttpDeps().knowledge,
    logger: silentLogger,
    clock: systemClock,
    readiness: async () => ({ ok: true, degraded: [], backends: {} }),
  });
  return {
    http,
    database,
    stores,
    vectorIndex,
    ask: async (name, method, url, payload) => {
      const headers = { authorization: `Bearer ${token(name)}` };
      const answer = await http.inject({
        method,
        url,
        headers,
        ...(payload === undefined ? {} : { payload }),
      });
      return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
    },
    close: async () => {
      await http.close();
      await database.dispose();
    },
  };
}

export interface Stored {
  readonly build: Build;
  readonly failure: Failure;
  readonly analysis: Analysis;
  readonly review: Review;
}

/** Stores a failed build with one failure, its analysis and the review of it. */
export async function storeFailedBuild(
  stores: Stores,
  number: string,
  change: Partial<Failure> = {},
  pipeline = 'ci',
): Promise<Stored> {
  const {
    id: _id,
    receivedAt: _receivedAt,
    ...newBuild
  } = sampleBuild({ number, pipeline, externalId: `${pipeline}-${number}` });
  const { build } = await stores.builds.upsert(newBuild);
  const failure = sampleFailure({ id: `fal_${build.id}`, buildId: build.id, ...change });
  const { fingerprint, generic } = failure;
  const [group] = await stores.failures.saveGroups(build.id, [{ fingerprint, generic, failures: [failure] }]);
  const stored = group?.failures[0] ?? failure;
  const triage = await stores.triages.open(build.id, fingerprint.value);
  const { analysis } = await stores.analyses.insertOnce(
    sampleAnalysis({
      id: `ana_${build.id}`,
      buildId: build.id,
      triageId: triage.id,
      failureIds: [stored.id],
      fingerprint: fingerprint.value,
      createdAt: new Date().toISOString(),
    }),
  );
  const {
    state: _s,
    claimedBy: _c,
    claimExpiresAt: _e,
    version: _v,
    decision: _d,
    ...opening
  } = sampleReview({
    id: `rev_${build.id}`,
    analysisId: analysis.id,
    buildId: build.id,
  });
  return { build, failure: stored, analysis, review: await stores.reviews.open(opening) };
}

const muteArchive: BuildArchive = {
  driver: 'mute',
  put: async () => undefined,
  list: async () => [],
  read: async () => null,
  lines: async () => null,
  remove: async () => undefined,
  pieces: async function* () {},
};
