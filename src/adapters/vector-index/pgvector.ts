import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { Database } from '../../ports/database.ts';
import type { Embedder } from '../../ports/embedder.ts';
import type { VectorIndex, VectorItem, VectorNamespace } from '../../ports/vector-index.ts';

/** Items of one statement; bounds its size. */
const BATCH = 100;

const Match = z.object({
  id: z.string(),
  text: z.string(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  score: z.number(),
});

const Listed = Match.pick({ id: true, metadata: true });

/**
 * Exact cosine search with pgvector. Only vectors of the same embedder are compared; those of another one are as good as
 * absent until they are stored again. Throws `invalid-config` where the embedder's dimensions do not fit the table.
 */
export async function createPgvectorIndex(db: Database, embedder: Embedder): Promise<VectorIndex> {
  await checkDimensions(db, embedder);
  return {
    driver: 'pgvector',

    upsert: async (namespace, items, signal) => {
      const unique = [...new Map(items.map((item) => [item.id, item])).values()];
      for (let start = 0; start < unique.length; start += BATCH) {
        await storeBatch(db, embedder, namespace, unique.slice(start, start + BATCH), signal);
      }
    },

    search: async (namespace, { text, limit, filter }, signal) => {
      const [vector] = await embedder.embed([text], signal);
      if (vector === undefined) throw new TriageError('internal', `The embedder ${embedder.name} returned no vector`);
      const rows = await db.query(SEARCH, [namespace, embedder.name, { ...filter }, toVector(vector), limit]);
      return rows.map((row) => Match.parse(row));
    },

    list: async (namespace) => {
      const rows = await db.query('select id, metadata from vector_items where namespace = $1 and embedder = $2 order by id', [
        namespace,
        embedder.name,
      ]);
      return rows.map((row) => Listed.parse(row));
    },

    remove: async (namespace, ids) => {
      await db.query('delete from vector_items where namespace = $1 and id = any($2::text[])', [namespace, ids]);
    },

    count: async (namespace) => {
      const [row] = await db.query<{ count: number }>('select count(*) from vector_items where namespace = $1 and embedder = $2', [
        namespace,
        embedder.name,
      ]);
      return row?.count ?? 0;
    },
  };
}

async function checkDimensions(db: Database, embedder: Embedder): Promise<void> {
  const [row] = await db.query<{ dimensions: number }>(
    `select atttypmod as dimensions from pg_attribute where attrelid = 'vector_items'::regclass and attname = 'embedding'`,
  );
  if (row?.dimensions === embedder.dimensions) return;
  throw new TriageError(
    'invalid-config',
    `The embedder ${embedder.name} makes vectors of ${embedder.dimensions} numbers, but the database keeps ${row?.dimensions ?? 'none'}. Choose an embedder of that size.`,
  );
}

async function storeBatch(
  db: Database,
  embedder: Embedder,
  namespace: VectorNamespace,
  items: readonly VectorItem[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const vectors = await embedder.embed(
    items.map((item) => item.text),
    signal,
  );
  const rows = items.map((item, index) => ({ ...item, vector: toVector(vectors[index] ?? []) }));
  await db.query(UPSERT, [namespace, embedder.name, { rows }]);
}

/** pgvector's text form. A number that is not finite counts as 0: the column refuses it. */
function toVector(numbers: Iterable<number>): string {
  return `[${Array.from(numbers, (number) => (Number.isFinite(number) ? number : 0)).join(',')}]`;
}

const UPSERT = `
  insert into vector_items (namespace, id, embedder, text, metadata, embedding)
  select $1, r->>'id', $2, r->>'text', r->'metadata', (r->>'vector')::vector from jsonb_array_elements($3::jsonb->'rows') as r
  on conflict (namespace, id) do update set
    embedder = excluded.embedder, text = excluded.text, metadata = excluded.metadata, embedding = excluded.embedding,
    updated_at = clock_timestamp()`;

// The distance to or from a zero vector (an empty text) is NaN, which PostgreSQL sorts above every number.
const SEARCH = `
  select id, text, metadata, case when distance = 'NaN' then 0 else greatest(0, least(1, 1 - distance)) end as score
  from (
    select id, text, metadata, embedding <=> $4::vector as distance from vector_items
    where namespace = $1 and embedder = $2 and metadata @> $3::jsonb
  ) measured
  order by distance, id
  limit $5`;
