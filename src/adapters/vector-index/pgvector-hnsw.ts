import { createHash } from 'node:crypto';
import type { Database, Sql } from '../../ports/database.ts';
import type { VectorNamespace } from '../../ports/vector-index.ts';

/**
 * From so many items on an approximate index answers; below it every item is compared, which is exact and as quick. Measured on this kind
 * of data, comparing 20,000 vectors takes some 14 ms (docs/how-to/postgres.md).
 */
const HNSW_FROM = 10_000;

/** Candidates that a search looks at: with fewer, published figures for hard data fall to a recall of 0.91. */
const EF_SEARCH = 200;

/** Items stored between two counts. */
const COUNT_EVERY = 500;

/** How long it is believed that there is no index: another process may have made one. */
const BELIEVED_MS = 30_000;

/** hnsw.iterative_scan, without which a filter finds too little, came with this release. */
const OLDEST = [0, 8] as const;

export interface Hnsw {
  /** The type that an index has the embedding as, e.g. `vector(512)`; null where every item is to be compared. */
  typeOf(namespace: VectorNamespace, length: number): Promise<string | null>;
  /** To be said of items that were stored: makes the index where there are enough by now. Never throws. */
  stored(namespace: VectorNamespace, length: number, items: number): Promise<void>;
  /** Sets the transaction up for a search in the index. */
  prepare(sql: Sql): Promise<void>;
}

/**
 * Approximate indexes (HNSW, cosine) on vectors of one length, of one embedder, in one namespace: vectors of several lengths share the
 * column, so each index is over an expression and some of the rows. Where the role may not make one, or pgvector is older than 0.8,
 * searches stay exact.
 */
export function createHnsw(db: Database, embedder: string, from = HNSW_FROM): Hnsw {
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
    typeOf: async (namespace, length) => {
      const type = typeFor(length);
      return type !== null && (await isThere(namespace, length)) ? type : null;
    },

    stored: async (namespace, length, items) => {
      const name = indexName(namespace, embedder, length);
      const since = (uncounted.get(name) ?? COUNT_EVERY) + items;
      uncounted.set(name, since % COUNT_EVERY);
      const type = typeFor(length);
      if (since < COUNT_EVERY || type === null || (await isThere(namespace, length).catch(() => true))) return;
      try {
        if (await makeIndex(db, { name, namespace, embedder, type, length, from })) known.delete(name);
      } catch {
        // Exact searches stay right, only slower. The next items give the next try.
      }
    },

    prepare: async (sql) => {
      await sql.query(`select set_config('hnsw.ef_search', $1, true), set_config('hnsw.iterative_scan', 'strict_order', true)`, [
        String(EF_SEARCH),
      ]);
    },
  };
}

/** pgvector indexes vectors of up to 2,000 numbers, and halves of up to 4,000. */
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
 * One process at once, the others go on without. New items wait while the index is made: some seconds, once, when a namespace has grown
 * to `from`.
 */
async function makeIndex(db: Database, wanted: Wanted): Promise<boolean> {
  return await db.transaction(async (sql) => {
    const [row] = await sql.query<{ enough: boolean; free: boolean; version: string }>(MAY_MAKE, [
      wanted.name,
      wanted.namespace,
      wanted.embedder,
      wanted.from,
    ]);
    if (row === undefined || !row.enough || !row.free || !isRecent(row.version)) return false;
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

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

const IS_THERE = `
  select exists (
    select from pg_index join pg_class on pg_class.oid = pg_index.indexrelid
    where pg_class.relname = $1 and indrelid = to_regclass('vector_items') and indisvalid
  ) as there`;

const MAY_MAKE = `
  select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free,
    (select count(*) >= $4::int from (select from vector_items where namespace = $2 and embedder = $3 limit $4::int) as items) as enough,
    (select extversion from pg_extension where extname = 'vector') as version`;

// A model that makes vectors of another length one day must not stumble over the index of its old ones.
const CREATE = `create index if not exists %1$I on vector_items using hnsw ((embedding::%2$s) %3$s)
  where namespace = %4$L and embedder = %5$L and vector_dims(embedding) = %6$s`;
