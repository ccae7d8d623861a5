import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { isOlder } from '../../lib/text.ts';
import type { Database, Sql } from '../../ports/database.ts';
import type {
  Embedder,
  SemanticIndex,
  VectorIndex,
  VectorItem,
  VectorNamespace,
} from '../../ports/vector-index.ts';
import { all } from '../sql.ts';
import { aboveFloor } from './memory.ts';

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
  const checkLength = lengthCheck(db, embedder);
  const hnsw = createHnsw(db, embedder.name, hnswFrom);
  const ask = searchesTogether(db, embedder.name, hnsw);
  return {
    driver: 'pgvector',

    upsert: async (namespace, items, signal) => {
      const unique = [...new Map(items.map((item) => [item.id, item])).values()];
      for (let start = 0; start < unique.length; start += BATCH) {
        const batch = unique.slice(start, start + BATCH);
        const length = await storeBatch({ db, embedder, checkLength }, namespace, batch, signal);
        await hnsw.stored(namespace, length, batch.length);
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
      return found.map((match) => ({ ...match, score: aboveFloor(match.score, floor) }));
    },

    list: async (namespace) => await all(db, Listed, LIST, [namespace, embedder.name]),

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
function searchesTogether(db: Database, embedder: string, hnsw: Hnsw) {
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
    const type = await hnsw.findType(namespace, length);
    const rows =
      type === null ? await db.query(SEARCH, [namespace, embedder, { queries }]) : await approximate(type);
    const found = rows.map((row) => Numbered.parse(row));
    return queries.map((_query, index) =>
      found.filter(({ number }) => number === index + 1).map(({ number: _number, ...match }) => match),
    );

    async function approximate(type: string): Promise<Record<string, unknown>[]> {
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
function lengthCheck(db: Database, embedder: Embedder): (length: number) => Promise<void> {
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

/** Items of the namespace that have what is asked of their metadata. */
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

/**
 * Minimum number of items for which an approximate index is used. Below it every item is compared, which is
 * exact and equally fast. Measured on this kind of data, comparing 20,000 vectors takes about 14 ms
 * (docs/how-to/postgres.md).
 */
const HNSW_FROM = 10_000;

/**
 * Candidates that a search looks at: with fewer, published figures for hard data fall to a recall of 0.91.
 */
const EF_SEARCH = 200;

/** Items stored between two counts. */
const COUNT_EVERY = 500;

/** Milliseconds for which a missing index is assumed to be still missing; another process may create one. */
const BELIEVED_MS = 30_000;

/** hnsw.iterative_scan, without which a filter finds too little, came with this release. */
const OLDEST = [0, 8] as const;

type Hnsw = ReturnType<typeof createHnsw>;

/**
 * Manages approximate indexes (HNSW, cosine) on vectors of one length, one embedder and one namespace.
 * Vectors of several lengths share the column, so each index is partial and over an expression. If the role
 * may not create an index, or pgvector is older than 0.8, searches stay exact.
 */
function createHnsw(db: Database, embedder: string, from = HNSW_FROM) {
  const known = new Map<string, { readonly there: boolean; readonly until: number }>();
  const uncounted = new Map<string, number>();

  async function isThere(namespace: VectorNamespace, length: number): Promise<boolean> {
    const name = indexName(namespace, embedder, length);
    const last = known.get(name);
    if (last !== undefined && last.until > performance.now()) return last.there;
    const [row] = await db.query<{ there: boolean }>(IS_THERE, [name]);
    const there = row?.there ?? false;
    known.set(name, { there, until: there ? Number.POSITIVE_INFINITY : performance.now() + BELIEVED_MS });
    return there;
  }

  return {
    /**
     * Returns the type in which an index holds the embedding, e.g. `vector(512)`; null if every item must be
     * compared.
     */
    findType: async (namespace: VectorNamespace, length: number) => {
      const type = typeFor(length);
      return type !== null && (await isThere(namespace, length)) ? type : null;
    },

    /** Records that items were stored, and creates the index if there are enough by now. Never throws. */
    stored: async (namespace: VectorNamespace, length: number, items: number) => {
      const name = indexName(namespace, embedder, length);
      const since = (uncounted.get(name) ?? COUNT_EVERY) + items;
      uncounted.set(name, since % COUNT_EVERY);
      const type = typeFor(length);
      if (since < COUNT_EVERY || type === null || (await isThere(namespace, length).catch(() => true)))
        return;
      try {
        if (await makeIndex(db, { name, namespace, embedder, type, length, from })) known.delete(name);
      } catch {
        // Exact searches remain correct but slower. The next items that are stored cause another try.
      }
    },

    /** Sets the transaction up for a search in the index. */
    prepare: async (sql: Sql) => {
      await sql.query(
        `select set_config('hnsw.ef_search', $1, true),
            set_config('hnsw.iterative_scan', 'strict_order', true)`,
        [String(EF_SEARCH)],
      );
    },
  };
}

/**
 * Returns the indexable type for vectors of this length, or null if there is none. pgvector indexes vectors
 * of up to 2,000 numbers, and half-precision vectors of up to 4,000.
 */
function typeFor(length: number): string | null {
  if (!Number.isInteger(length) || length < 1 || length > 4000) return null;
  return length <= 2000 ? `vector(${length})` : `halfvec(${length})`;
}

function indexName(namespace: VectorNamespace, embedder: string, length: number): string {
  const digest = createHash('sha256').update(JSON.stringify([namespace, embedder, length]));
  return `vector_items_hnsw_${digest.digest('hex').slice(0, 16)}`;
}

interface Wanted {
  readonly name: string;
  readonly namespace: VectorNamespace;
  readonly embedder: string;
  readonly type: string;
  readonly length: number;
  readonly from: number;
}

/**
 * Creates the index in one process at a time; other processes continue without it. New items wait during the
 * creation: some seconds, once, when a namespace has grown to `from`. Returns true if the index was created.
 */
async function makeIndex(db: Database, wanted: Wanted): Promise<boolean> {
  return await db.transaction(async (sql) => {
    const [row] = await sql.query<{ enough: boolean; free: boolean; version: string }>(MAY_MAKE, [
      wanted.name,
      wanted.namespace,
      wanted.embedder,
      wanted.from,
    ]);
    if (row === undefined || !row.enough || !row.free || isOlder(row.version, OLDEST)) return false;
    const operators = wanted.type.startsWith('half') ? 'halfvec_cosine_ops' : 'vector_cosine_ops';
    const [statement] = await sql.query<{ text: string }>(`select format($1, variadic $2::text[]) as text`, [
      CREATE,
      [wanted.name, wanted.type, operators, wanted.namespace, wanted.embedder, String(wanted.length)],
    ]);
    await sql.query(`select set_config('maintenance_work_mem', '128MB', true)`);
    await sql.query(statement?.text ?? '');
    return true;
  });
}

const IS_THERE = `
  select exists (
    select from pg_index join pg_class on pg_class.oid = pg_index.indexrelid
    where pg_class.relname = $1 and indrelid = to_regclass('vector_items') and indisvalid
  ) as there`;

const MAY_MAKE = `
  select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free,
    (select count(*) >= $4::int from (select from vector_items where namespace = $2 and embedder = $3
      limit $4::int) as items) as enough,
    (select extversion from pg_extension where extname = 'vector') as version`;

// A model that makes vectors of another length one day must not stumble over the index of its old ones.
const CREATE = `create index if not exists %1$I on vector_items using hnsw ((embedding::%2$s) %3$s)
  where namespace = %4$L and embedder = %5$L and vector_dims(embedding) = %6$s`;
