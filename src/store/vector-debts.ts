import { z } from 'zod';
import type { Database } from '../ports/database.ts';
import type { VectorDebtStore } from '../ports/vector-index.ts';

const Debt = z.object({
  namespace: z.enum(['knowledge', 'team_knowledge', 'error_library']),
  id: z.string(),
  item: z.object({ text: z.string(), metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) }).nullable(),
  attempts: z.int(),
  version: z.int(),
  lease: z.int(),
});

const Waiting = z.object({ count: z.coerce.number(), since: z.string().nullable() });

const MAX_SENTENCE = 500;

/** Leases are judged by the database's clock, so that processes with different clocks agree. */
export function createVectorDebtStore(db: Database): VectorDebtStore {
  return {
    owe: async (debts, sql = db) => {
      // PostgreSQL refuses NUL and half a surrogate pair in jsonb.
      const clean = (_name: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value);
      if (debts.length > 0) await sql.query(OWE, [JSON.stringify(debts, clean)]);
    },
    take: async (limit, leaseMs) => (await db.query(TAKE, [limit, leaseMs])).map((row) => Debt.parse(row)),
    takeThese: async (namespace, ids, leaseMs) => (await db.query(TAKE_THESE, [namespace, ids, leaseMs])).map((row) => Debt.parse(row)),
    settle: async ({ namespace, id, version, lease }) => {
      await db.transaction(async (sql) => {
        const paid = await sql.query(SETTLE, [namespace, id, version, lease]);
        if (paid.length === 0) await sql.query(RELEASE, [namespace, id, lease, null, 0]);
      });
    },
    release: async ({ namespace, id, lease }, error, delayMs) => {
      await db.query(RELEASE, [namespace, id, lease, error.replaceAll('\0', '').slice(0, MAX_SENTENCE), delayMs]);
    },
    reclaim: async () => (await db.query(RECLAIM)).length,
    waiting: async () => {
      const [row] = await db.query(WAITING);
      return Waiting.parse(row);
    },
  };
}

const COLUMNS = 'd.namespace, d.id, d.item, d.attempts, d.version, d.lease';

// While somebody holds the old debt the new one waits for them: two payments at once could reach the index in the wrong order.
const OWE = `
  insert into vector_debts (namespace, id, item)
  select r->>'namespace', r->>'id', nullif(r->'item', 'null'::jsonb) from jsonb_array_elements($1::jsonb) as r
  on conflict (namespace, id) do update set item = excluded.item, version = vector_debts.version + 1, attempts = 0, error = null,
    owed_at = clock_timestamp(), not_before = case when vector_debts.held then vector_debts.not_before else clock_timestamp() end`;

const TAKE = `
  update vector_debts d set held = true, lease = d.lease + 1, attempts = d.attempts + 1,
    not_before = clock_timestamp() + $2::float8 * interval '1 millisecond'
  from (
    select namespace, id from vector_debts where not_before <= clock_timestamp() order by owed_at, id limit $1 for update skip locked
  ) as due
  where d.namespace = due.namespace and d.id = due.id
  returning ${COLUMNS}`;

const TAKE_THESE = `
  update vector_debts d set held = true, lease = d.lease + 1, attempts = d.attempts + 1,
    not_before = clock_timestamp() + $3::float8 * interval '1 millisecond'
  from (
    select namespace, id from vector_debts
    where namespace = $1 and id = any($2::text[]) and (not held or not_before <= clock_timestamp())
    order by id for update skip locked
  ) as asked
  where d.namespace = asked.namespace and d.id = asked.id
  returning ${COLUMNS}`;

const SETTLE = 'delete from vector_debts where namespace = $1 and id = $2 and version = $3 and lease = $4 returning id';

const RELEASE = `
  update vector_debts set held = false, error = $4, not_before = clock_timestamp() + $5::float8 * interval '1 millisecond'
  where namespace = $1 and id = $2 and lease = $3`;

const RECLAIM = 'update vector_debts set held = false, not_before = clock_timestamp() where held returning id';

const WAITING = `
  select count(*) as count, to_char(min(owed_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as since from vector_debts`;
