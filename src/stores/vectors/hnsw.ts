import { createHash } from 'node:crypto';
import { isOlder } from '../../lib/text.ts';
import type { Database, Sql } from '../../ports/database.ts';
import type { VectorNamespace } from '../../ports/vector-index.ts';

/**
 * The minimum number of items for an approximate index. With fewer items, every item is compared, which is
 * exact.
 */
const HNSW_FROM = 10_000;

/**
 * The number of candidates that a search examines. pgvector's default is 40; more candidates raise the recall
 * and take more time.
 */
const EF_SEARCH = 200;

/** The number of items that are stored between two counts. */
const COUNT_EVERY = 500;

/**
 * The time in milliseconds after which a missing index is looked up again, because another process may have
 * created it.
 */
const LOOKUP_MS = 30_000;

/**
 * The first release of pgvector with hnsw.iterative_scan. Without it, a filtered search returns too few
 * items.
 */
const MIN_VERSION = [0, 8] as const;

export type Hnsw = ReturnType<typeof createHnsw>;

/**
 * Manages approximate indexes (HNSW, cosine) on vectors of one length, one embedder and one namespace.
 * Vectors of several lengths share the column, so each index is partial and over an expression. If the role
 * may not create an index, or pgvector is older than 0.8, searches stay exact.
 */
export function createHnsw(db: Database, embedder: string, from = HNSW_FROM) {
  const known = new Map<string, { readonly exists: boolean; readonly until: number }>();
  const uncounted = new Map<string, number>();

  async function hasIndex(namespace: VectorNamespace, length: number): Promise<boolean> {
    const name = createIndexName(namespace, embedder, length);
    const last = known.get(name);
    if (last !== undefined && last.until > performance.now()) return last.exists;
    const [row] = await db.query<{ found: boolean }>(INDEX_EXISTS, [name]);
    const exists = row?.found ?? false;
    known.set(name, { exists, until: exists ? Number.POSITIVE_INFINITY : performance.now() + LOOKUP_MS });
    return exists;
  }

  return {
    /**
     * Returns the type of the indexed expression, such as `vector(512)`. Returns null if there is no index.
     */
    findIndexedType: async (namespace: VectorNamespace, length: number) => {
      const type = findTypeFor(length);
      return type !== null && (await hasIndex(namespace, length)) ? type : null;
    },

    /** Records that items were stored, and creates the index if there are enough by now. Never throws. */
    recordStored: async (namespace: VectorNamespace, length: number, items: number) => {
      const name = createIndexName(namespace, embedder, length);
      const since = (uncounted.get(name) ?? COUNT_EVERY) + items;
      uncounted.set(name, since % COUNT_EVERY);
      const type = findTypeFor(length);
      if (since < COUNT_EVERY || type === null || (await hasIndex(namespace, length).catch(() => true)))
        return;
      try {
        if (await createIndex(db, { name, namespace, embedder, type, length, from })) known.delete(name);
      } catch {
        // Exact searches remain correct but slower. Another try follows after at most COUNT_EVERY further
        // items.
      }
    },

    /** Sets the parameters of a search in the index, for this transaction. */
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
function findTypeFor(length: number): string | null {
  if (!Number.isInteger(length) || length < 1 || length > 4000) return null;
  return length <= 2000 ? `vector(${length})` : `halfvec(${length})`;
}

function createIndexName(namespace: VectorNamespace, embedder: string, length: number): string {
  const digest = createHash('sha256').update(JSON.stringify([namespace, embedder, length]));
  return `vector_items_hnsw_${digest.digest('hex').slice(0, 16)}`;
}

interface IndexRequest {
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
async function createIndex(db: Database, wanted: IndexRequest): Promise<boolean> {
  return await db.transaction(async (sql) => {
    const [row] = await sql.query<{ enough: boolean; free: boolean; version: string }>(CHECK_BEFORE_CREATE, [
      wanted.name,
      wanted.namespace,
      wanted.embedder,
      wanted.from,
    ]);
    if (row === undefined || !row.enough || !row.free || isOlder(row.version, MIN_VERSION)) return false;
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

const INDEX_EXISTS = `
  select exists (
    select from pg_index join pg_class on pg_class.oid = pg_index.indexrelid
    where pg_class.relname = $1 and indrelid = to_regclass('vector_items') and indisvalid
  ) as found`;

const CHECK_BEFORE_CREATE = `
  select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free,
    (select count(*) >= $4::int from (select from vector_items where namespace = $2 and embedder = $3
      limit $4::int) as items) as enough,
    (select extversion from pg_extension where extname = 'vector') as version`;

// The index covers one length only. Otherwise no vector of another length could be stored if the model
// changes its length.
const CREATE = `create index if not exists %1$I on vector_items using hnsw ((embedding::%2$s) %3$s)
  where namespace = %4$L and embedder = %5$L and vector_dims(embedding) = %6$s`;
