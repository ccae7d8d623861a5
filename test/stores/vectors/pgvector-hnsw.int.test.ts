import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/ports/database.ts';
import type { VectorIndex, VectorItem } from '../../../src/ports/vector-index.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';
import { createPgvectorIndex, createSemanticPgvectorIndex } from '../../../src/stores/vectors/pgvector.ts';
import { testVectorIndexContract } from '../../contract/vector-index-contract.ts';
import { pointEmbedder } from '../../support/pgvector-points.ts';
import {
  openMigrated,
  openTestDatabase,
  startPostgres,
  type TestServer,
  withoutPostgres,
} from '../../support/postgres.ts';

const ITEMS = 3000;
const CENTRES = 40;
const DIMENSIONS = 96;
const QUERIES = Array.from({ length: 50 }, (_, number) => String(500_000 + number * 37));

type Opened = Database & { dispose(): Promise<void> };

function createPoints(from: number, count: number): VectorItem[] {
  return Array.from({ length: count }, (_, at) => {
    const number = from + at;
    return { id: `p${number}`, text: String(number), metadata: { rare: number % 300 === 0 ? 'yes' : 'no' } };
  });
}

async function listIndexes(db: Database): Promise<string[]> {
  const rows = await db.query<{ definition: string }>(
    `select indexdef as definition from pg_indexes where indexname like 'vector_items_hnsw%' order by 1`,
  );
  return rows.map((row) => row.definition);
}

function testLargeNamespace(name: string, open: () => Promise<Opened>): void {
  describe(`a large namespace: ${name}`, () => {
    const embedder = pointEmbedder('points', DIMENSIONS, CENTRES);
    let db: Opened;
    let exact: VectorIndex;
    let near: VectorIndex;
    beforeAll(async () => {
      db = await open();
      exact = createPgvectorIndex(db, embedder);
      near = createPgvectorIndex(db, embedder, { hnswFrom: ITEMS });
      await near.upsert('error_library', createPoints(0, ITEMS - 100));
    });
    afterAll(async () => db.dispose());

    it('gets an index for its embedder once it is large, created by one of several processes', async () => {
      expect(await listIndexes(db)).toEqual([]);
      const other = createPgvectorIndex(db, embedder, { hnswFrom: ITEMS });

      await Promise.all([
        near.upsert('error_library', createPoints(ITEMS - 100, 300)),
        other.upsert('error_library', createPoints(ITEMS + 200, 700)),
      ]);
      await near.upsert('error_library', createPoints(ITEMS + 900, 500));

      const [definition, ...more] = await listIndexes(db);
      expect(definition).toContain('hnsw');
      expect(definition).toContain(`vector(${DIMENSIONS})`);
      expect(more).toEqual([]);
    });

    it('finds at least 98 of 100 items that an exact comparison finds, with the same scores', async () => {
      await db.query('analyze vector_items');
      // `exact` believes for a while yet that there is no index.
      const truth = await storeBefore(db, exact, QUERIES);
      let found = 0;
      for (const [at, text] of QUERIES.entries()) {
        const matches = await near.search('error_library', { text, limit: 10 });
        expect(matches).toHaveLength(10);
        const scores = new Map(truth[at]?.map(({ id, score }) => [id, score]));
        found += matches.filter(({ id, score }) => Math.abs((scores.get(id) ?? -1) - score) < 1e-6).length;
      }

      console.info(
        `${name}: recall ${found / QUERIES.length / 10} of 10 nearest in ${ITEMS + 1400} items, ${QUERIES.length} queries`,
      );
      expect(found / (QUERIES.length * 10)).toBeGreaterThanOrEqual(0.98);
    });

    it('finds the requested number even if few items pass the filter', async () => {
      const matches = await near.search('error_library', { text: '77', limit: 8, filter: { rare: 'yes' } });

      expect(matches).toHaveLength(8);
      expect(matches.every(({ metadata }) => metadata.rare === 'yes')).toBe(true);
    });

    it('does not affect searches in other namespaces and with other embedders', async () => {
      await near.upsert('knowledge', createPoints(0, 5));
      const model = createSemanticPgvectorIndex(db, pointEmbedder('model', 8, 3), ['points']);
      await model.upsert('error_library', createPoints(0, 5));

      expect(await near.search('knowledge', { text: '3', limit: 1 })).toMatchObject([{ id: 'p3' }]);
      expect(await model.search('error_library', { text: '3', limit: 1 })).toMatchObject([{ id: 'p3' }]);
    });

    it('accepts new vectors of a model that changed its length next to the index of the old ones', async () => {
      const old = createSemanticPgvectorIndex(db, pointEmbedder('grown', 8, 3), ['points']);
      await db.query(`create index vector_items_hnsw_old on vector_items using hnsw ((embedding::vector(8)) vector_cosine_ops)
        where namespace = 'knowledge' and embedder = 'grown' and vector_dims(embedding) = 8`);
      await old.upsert('knowledge', createPoints(0, 3));
      const grown = createSemanticPgvectorIndex(db, pointEmbedder('grown', 16, 3), ['points']);
      await grown.clear();

      await grown.upsert('knowledge', createPoints(0, 3));

      expect(await grown.search('knowledge', { text: '2', limit: 1 })).toMatchObject([{ id: 'p2' }]);
    });
  });
}

/** What comparing every item gives. */
async function storeBefore(db: Database, exact: VectorIndex, texts: readonly string[]) {
  const [hidden] = await db.query<{ name: string }>(
    `select indexname as name from pg_indexes where indexname like 'vector_items_hnsw%'`,
  );
  await db.query(`alter index ${hidden?.name} rename to hidden_hnsw`);
  const answers = [];
  for (const text of texts) answers.push(await exact.search('error_library', { text, limit: 10 }));
  await db.query(`alter index hidden_hnsw rename to ${hidden?.name}`);
  return answers;
}

testLargeNamespace('pglite', openTestDatabase);

describe.skipIf(withoutPostgres)('the index on a PostgreSQL server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => server?.dispose());

  testVectorIndexContract('pgvector on postgres', async () => {
    const db = await openMigrated(server);
    const { createHashingEmbedder } = await import('../../../src/models/embedder/hashing.ts');
    return { index: createPgvectorIndex(db, createHashingEmbedder()), dispose: db.dispose };
  });

  testLargeNamespace('postgres', () => openMigrated(server));

  it('is used for a search in a large namespace', async () => {
    const db = await openMigrated(server);
    const index = createPgvectorIndex(db, pointEmbedder('points', DIMENSIONS, CENTRES), { hnswFrom: 2000 });
    await index.upsert('error_library', createPoints(0, 2500));
    await index.search('error_library', { text: '5', limit: 10 });
    await db.query('select pg_stat_force_next_flush()');

    const [used] = await db.query<{ scans: number }>(
      `select idx_scan as scans from pg_stat_user_indexes where indexrelname like 'vector_items_hnsw%'`,
    );

    expect(used?.scans ?? 0).toBeGreaterThan(0);
    await db.dispose();
  });

  it('is replaced by an exact search if the role may not create an index', async () => {
    const db = await openMigrated(server);
    const role = `writer_${Math.random().toString(36).slice(2, 8)}`;
    await db.query(`create role ${role} login`);
    await db.query(`grant select, insert, update, delete on vector_items to ${role}`);
    const url = new URL(db.url);
    url.username = role;
    const writer = await openPostgres({ url: url.href, poolSize: 2 });
    const index = createPgvectorIndex(writer, pointEmbedder('points', 16, 3), { hnswFrom: 10 });

    await index.upsert('knowledge', createPoints(0, 600));

    expect(await index.search('knowledge', { text: '5', limit: 1 })).toMatchObject([{ id: 'p5' }]);
    expect(await listIndexes(db)).toEqual([]);
    await writer.close();
    await db.dispose();
  });
});
