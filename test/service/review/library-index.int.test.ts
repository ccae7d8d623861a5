import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { indexEntry } from '../../../src/domain/work.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import type { VectorIndex, VectorNamespace } from '../../../src/ports/vector-index.ts';
import { indexHandlers, indexNow } from '../../../src/service/index-work.ts';
import { decideReview } from '../../../src/service/review/decide.ts';
import { syncLibraryIndex } from '../../../src/service/review/learn.ts';
import { createStores, type Stores } from '../../../src/stores/stores.ts';
import { createPineconeIndex } from '../../../src/stores/vectors/pinecone.ts';
import { startWorker } from '../../../src/work/worker.ts';
import {
  PINECONE_INDEX,
  PINECONE_KEY,
  type PineconeApi,
  type PineconeScript,
  startPineconeApi,
} from '../../support/pinecone-api.ts';
import { openTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { storeFailedBuild } from '../answers/served-world.ts';

let database: TestDatabase;
let stores: Stores;
let api: PineconeApi;
let vectorIndex: VectorIndex;
let count = 0;

beforeAll(async () => {
  database = await openTestDatabase();
  stores = createStores(database, systemClock);
  api = await startPineconeApi({ lagMs: 10 });
});
afterAll(async () => {
  await api?.close();
  await database?.dispose();
});
beforeEach(() => restoreAnswers());

function openIndex(timeoutMs: number): VectorIndex {
  const options = {
    apiKey: PINECONE_KEY,
    index: PINECONE_INDEX,
    baseUrl: api.url,
    retryDelayMs: 1,
    timeoutMs,
  };
  return createPineconeIndex(options, createHashingEmbedder());
}

function restoreAnswers(): void {
  api.script([{ do: 'answer' }]);
  vectorIndex = openIndex(10_000);
}

const getIndexDeps = () => ({ work: stores.work, vectorIndex, masker: createMasker(), logger: silentLogger });
const startIndexing = () =>
  startWorker({ ...getIndexDeps(), handlers: indexHandlers(vectorIndex), intervalMs: 10 });
const countPending = async () => (await stores.work.waiting('index:error_library')).count;

/** Stores a failed build, by default with a new fingerprint, accepts its analysis, and returns the entry. */
async function decide(fingerprint?: string) {
  count += 1;
  const value = fingerprint ?? `f${count}`;
  const message = `module alpha${value} cannot reach service beta${value}`;
  const { review } = await storeFailedBuild(stores, `${1_000 + count}`, {
    message,
    fingerprint: { algorithm: 'faultline', version: 1, value },
  });
  const write = (namespace: VectorNamespace, ids: readonly string[]) =>
    indexNow(getIndexDeps(), namespace, ids);
  const deps = {
    database,
    stores,
    indexNow: write,
    masker: createMasker(),
    clock: systemClock,
    logger: silentLogger,
  };
  const { entry } = await decideReview(deps, {
    reviewId: review.id,
    version: 1,
    reviewer: 'ada',
    input: { type: 'accept' },
  });
  if (entry === null) throw new Error('the decision added no library entry');
  return entry;
}

const isFound = async (entry: { readonly id: string; readonly message: string }) =>
  (await vectorIndex.search('error_library', { text: entry.message, limit: 50 })).some(
    ({ id }) => id === entry.id,
  );

/** Runs the index worker until no work is pending. Postponed work becomes due at once. */
async function waitUntilDone(): Promise<void> {
  await database.query('update work set free_at = clock_timestamp(), held = false');
  const worker = startIndexing();
  await expect.poll(countPending, { timeout: 10_000 }).toBe(0);
  await worker.stop();
}

describe('an entry that a person added', () => {
  it('is found as soon as the decision is stored', async () => {
    const entry = await decide();
    expect(await isFound(entry)).toBe(true);
    expect(await countPending()).toBe(0);
  });

  const bad: readonly [string, readonly PineconeScript[]][] = [
    ['answers 500', [{ do: 'status', status: 500 }]],
    ['answers 429', [{ do: 'status', status: 429, headers: { 'retry-after': '3600' } }]],
    ['hangs', [{ do: 'hang' }]],
    ['resets', [{ do: 'reset' }]],
    ['refuses the key', [{ do: 'status', status: 401, body: '"no"' }]],
  ];
  it('T30: is found once Pinecone is up again, whatever the error was', async () => {
    const taught = [];
    for (const [, script] of bad) {
      api.script(script, true);
      vectorIndex = openIndex(script[0]?.do === 'hang' ? 100 : 10_000);
      taught.push(await decide());
      taught.push(await decide());
    }
    expect(await countPending()).toBe(taught.length);
    // An entry is recalled by its fingerprint without the index.
    for (const { id, fingerprint, repository } of taught) {
      expect(await stores.library.recall({ fingerprint: fingerprint.value, repository })).toMatchObject({
        id,
      });
    }
    const dying = startIndexing();
    await dying.stop();
    restoreAnswers();
    await waitUntilDone();

    const found = await Promise.all(taught.map(isFound));
    const lost = found.filter((one) => !one).length;
    console.info(
      `Pinecone away in ${bad.length} ways, ${taught.length} decisions, ${found.length - lost} found; lost: ${lost}`,
    );
    expect(lost).toBe(0);
    expect(api.refusals).toEqual([]);
  });

  it('is removed from the index after a later decision, even if Pinecone was down for both', async () => {
    api.script([{ do: 'reset' }]);
    const first = await decide('replaced');
    const second = await decide('replaced');
    restoreAnswers();
    await waitUntilDone();

    expect([await isFound(first), await isFound(second)]).toEqual([false, true]);
    expect(await syncLibraryIndex({ library: stores.library, vectorIndex, logger: silentLogger })).toEqual({
      indexed: 0,
      removed: 0,
    });
  });

  it('is not delayed by an entry that the index refuses', async () => {
    await stores.work.add([
      indexEntry('error_library', 'ümlaut', { text: 'refused', metadata: {} }),
      indexEntry('error_library', 'good', { text: 'taken in spite of its neighbour', metadata: {} }),
    ]);
    const worker = startIndexing();
    await expect.poll(countPending, { timeout: 10_000 }).toBe(1);
    await worker.stop();
    expect(await isFound({ id: 'good', message: 'taken in spite of its neighbour' })).toBe(true);
  });
});
