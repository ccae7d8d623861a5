import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { Database } from '../../ports/database.ts';
import type {
  Embedder,
  SemanticIndex,
  VectorIndex,
  VectorItem,
  VectorNamespace,
} from '../../ports/vector-index.ts';
import { queryAll } from '../sql.ts';
import { createHnsw, type Hnsw } from './hnsw.ts';
import { toSimilarity } from './memory.ts';

/** Items of one statement; bounds its size. */
const BATCH = 100;

const Match = z.object({
  id: z.string(),
  text: z.string(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  score: z.number(),
});

const Numbered = Match.extend({ number: z.coerce.number() });

const Listed = Match.pick({ id: true, metadata: true });

export interface PgvectorOptions {
  /** Number of items in a namespace from which an approximate index answers; 10,000 if omitted. */
  readonly hnswFrom?: number;
}

/**
 * Creates an index with cosine search by pgvector: exact, or through an HNSW index if a namespace is large.
 * Only vectors of the same embedder are compared; those of other embedders are ignored. Throws
 * `invalid-config` if the length of the embedder's vectors differs from the length of those stored under its
 * name.
 */
export function createPgvectorIndex(
  db: Database,
  embedder: Embedder,
  { hnswFrom }: PgvectorOptions = {},
): VectorIndex {
  const checkLength = createLengthCheck(db, embedder);
  const hnsw = createHnsw(db, embedder.name, hnswFrom);
  const ask = batchSearches(db, embedder.name, hnsw);
  return {
    driver: 'pgvector',

    upsert: async (namespace, items, signal) => {
      const unique = [...new Map(items.map((item) => [item.id, item])).values()];
      for (let start = 0; start < unique.length; start += BATCH) {
        const batch = unique.slice(start, start + BATCH);
        const length = await storeBatch({ db, embedder, checkLength }, namespace, batch, signal);
        await hnsw.recordStored(namespace, length, batch.length);
      }
    },

    search: async (namespace, { text, limit, filter }, signal) => {
      const [vector] = await embedder.embed([text], signal);
      if (vector === undefined)
        throw new TriageError('internal', `The embedder ${embedder.name} returned no vector`);
      const floor = (await embedder.unrelated?.(signal)) ?? 0;
      await checkLength(vector.length);
      const found = await ask(
        namespace,
        { filter: { ...filter }, vector: toVector(vector), limit },
        vector.length,
      );
      return found.map((match) => ({ ...match, score: toSimilarity(match.score, floor) }));
    },

    list: async (namespace) => await queryAll(db, Listed, LIST, [namespace, embedder.name]),

    remove: async (namespace, ids) => {
      await db.query(
        'delete from vector_items where namespace = $1 and embedder = $2 and id = any($3::text[])',
        [namespace, embedder.name, ids],
      );
    },

    count: async (namespace) => {
      const [row] = await db.query<{ count: number }>(COUNT, [namespace, embedder.name]);
      return row?.count ?? 0;
    },
  };
}

interface Asked {
  readonly filter: Readonly<Record<string, string>>;
  readonly vector: string;
  readonly limit: number;
}

type Found = z.infer<typeof Match>;

/**
 * Searches that are asked side by side, as for the lines of one failure, become one statement for each
 * namespace.
 */
function batchSearches(db: Database, embedder: string, hnsw: Hnsw) {
  const waiting = new Map<
    VectorNamespace,
    { readonly asked: Asked[]; readonly answer: Promise<Found[][]> }
  >();
  return async (namespace: VectorNamespace, asked: Asked, length: number): Promise<Found[]> => {
    let batch = waiting.get(namespace);
    if (batch === undefined) {
      const queries: Asked[] = [];
      batch = { asked: queries, answer: nextTurn().then(() => searchAll(namespace, queries, length)) };
      waiting.set(namespace, batch);
    }
    const number = batch.asked.push(asked) - 1;
    return (await batch.answer)[number] ?? [];
  };

  async function searchAll(
    namespace: VectorNamespace,
    queries: readonly Asked[],
    length: number,
  ): Promise<Found[][]> {
    waiting.delete(namespace);
    const type = await hnsw.findIndexedType(namespace, length);
    const rows =
      type === null
        ? await db.query(SEARCH, [namespace, embedder, { queries }])
        : await searchApproximately(type);
    const found = rows.map((row) => Numbered.parse(row));
    return queries.map((_query, index) =>
      found.filter(({ number }) => number === index + 1).map(({ number: _number, ...match }) => match),
    );

    async function searchApproximately(type: string): Promise<Record<string, unknown>[]> {
      return await db.transaction(async (sql) => {
        await hnsw.prepare(sql);
        return await sql.query(searchNear(type, length), [namespace, embedder, { queries }]);
      });
    }
  }
}

/**
 * Creates the same index for an embedding model. `kept` names the embedders whose vectors `clear` does not
 * delete.
 */
export function createSemanticPgvectorIndex(
  db: Database,
  embedder: Embedder,
  kept: readonly string[],
): SemanticIndex {
  const index = createPgvectorIndex(db, embedder);
  return {
    ...index,
    embedder: embedder.name,
    // A server is not asked, and paid for, if nothing can be found.
    search: async (namespace, query, signal) => {
      const [any] = await db.query(
        'select 1 from vector_items where namespace = $1 and embedder = $2 limit 1',
        [namespace, embedder.name],
      );
      return any === undefined ? [] : index.search(namespace, query, signal);
    },
    clear: async () => {
      await db.query('delete from vector_items where embedder <> all($1::text[])', [kept]);
    },
  };
}

/** Says once for each length whether the stored vectors have it. */
function createLengthCheck(db: Database, embedder: Embedder): (length: number) => Promise<void> {
  const fitting = new Set<number>();
  return async (length) => {
    if (fitting.has(length)) return;
    const [row] = await db.query<{ length: number }>(
      'select vector_dims(embedding) as length from vector_items where embedder = $1 and ' +
        'vector_dims(embedding) <> $2 limit 1',
      [embedder.name, length],
    );
    if (row !== undefined) {
      throw new TriageError(
        'invalid-config',
        `${embedder.name} now produces ${length} dimensions, but the index was built ` +
          `with ${row.length}. Run: faultline knowledge reindex`,
      );
    }
    fitting.clear();
    fitting.add(length);
  };
}

async function storeBatch(
  {
    db,
    embedder,
    checkLength,
  }: { db: Database; embedder: Embedder; checkLength: (length: number) => Promise<void> },
  namespace: VectorNamespace,
  items: readonly VectorItem[],
  signal: AbortSignal | undefined,
): Promise<number> {
  const vectors = await embedder.embed(
    items.map((item) => item.text),
    signal,
  );
  const [first] = vectors;
  if (
    vectors.length !== items.length ||
    first === undefined ||
    vectors.some(({ length }) => length !== first.length)
  ) {
    throw new TriageError(
      'internal',
      `The embedder ${embedder.name} returned vectors that do not fit together`,
    );
  }
  await checkLength(first.length);
  const rows = items.map((item, index) => ({ ...item, vector: toVector(vectors[index] ?? []) }));
  await db.query(UPSERT, [namespace, embedder.name, { rows }]);
  return first.length;
}

/**
 * Formats a vector in pgvector's text form. A number that is not finite becomes 0, because the column refuses
 * it.
 */
function toVector(numbers: Iterable<number>): string {
  return `[${Array.from(numbers, (number) => (Number.isFinite(number) ? number : 0)).join(',')}]`;
}

const COUNT = 'select count(*) from vector_items where namespace = $1 and embedder = $2';

const LIST = 'select id, metadata from vector_items where namespace = $1 and embedder = $2 order by id';

const UPSERT = `
  insert into vector_items (namespace, id, embedder, text, metadata, embedding)
  select $1, r->>'id', $2, r->>'text', r->'metadata', (r->>'vector')::vector
  from jsonb_array_elements($3::jsonb->'rows') as r
  on conflict (namespace, id, embedder) do update set
    text = excluded.text, metadata = excluded.metadata, embedding = excluded.embedding,
    updated_at = clock_timestamp()`;

/** The condition for items of the namespace whose metadata match the filter. */
const MEANT = 'namespace = $1 and embedder = $2 and metadata @> asked.filter';

/**
 * Returns SQL for the nearest of `items`, best first. The distance to or from a zero vector (an empty text)
 * is NaN, which PostgreSQL sorts above every number.
 */
const searchIn = (items: string) => `
  with asked as materialized (
    select number, (query->>'vector')::vector as vector, query->'filter' as filter,
      (query->>'limit')::int as most
    from jsonb_array_elements($3::jsonb->'queries') with ordinality as queries (query, number)
  )
  select asked.number, id, text, metadata, case when distance = 'NaN' then 0
    else greatest(0, least(1, 1 - distance)) end as score
  from asked cross join lateral (
    select id, text, metadata, embedding <=> asked.vector as distance from ${items} order by distance, id
    limit asked.most
  ) as found
  order by asked.number, distance, id`;

const SEARCH = searchIn(`vector_items where ${MEANT}`);

/**
 * Returns SQL that finds the nearest items by the index, and then orders and scores them like the exact
 * search.
 */
function searchNear(type: string, length: number): string {
  return searchIn(`(
    select id, text, metadata, embedding from vector_items
    where ${MEANT} and vector_dims(embedding) = ${length}
    order by (embedding::${type}) <=> asked.vector::${type} limit asked.most
  ) as near`);
}
