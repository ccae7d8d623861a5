import type { Database } from '../ports/database.ts';
import { KeptResult, type ToolCacheStore } from '../ports/stores.ts';
import { fromNow } from './sql.ts';

/** Limits of the tool cache. The total may be exceeded by up to `sweepEvery` answers. */
interface ToolCacheBounds {
  readonly rows: number;
  readonly bytes: number;
  /** The maximum size of one result; ten findings of 4,000 characters fit. */
  readonly entryBytes: number;
  /** The number of stored answers after which old ones are deleted to make room. */
  readonly sweepEvery: number;
}

export const TOOL_CACHE_BOUNDS: ToolCacheBounds = {
  rows: 5_000,
  bytes: 64 * 1024 * 1024,
  entryBytes: 256 * 1024,
  sweepEvery: 50,
};

/**
 * Creates the store of cached tool results. They expire by the database's clock, so that processes with
 * different clocks agree.
 */
export function createToolCacheStore(
  db: Database,
  bounds: ToolCacheBounds = TOOL_CACHE_BOUNDS,
): ToolCacheStore {
  let kept = 0;
  const sweep = async () => (await db.query(SWEEP, [bounds.rows, bounds.bytes])).length;
  return {
    get: async (key) => readKept(await db.query(GET, [key])),
    put: async ({ key, tool, repository, ttlMs }, { findings, summary }) => {
      // PostgreSQL refuses NUL in text and in jsonb.
      const json = JSON.stringify(findings, (_name, value: unknown) =>
        typeof value === 'string' ? withoutNul(value) : value,
      );
      const bytes = Buffer.byteLength(json) + Buffer.byteLength(summary);
      if (bytes > bounds.entryBytes) return;
      await db.query(PUT, [key, tool, repository, json, withoutNul(summary), bytes, ttlMs]);
      kept += 1;
      if (kept % bounds.sweepEvery === 0) await sweep();
    },
    sweep,
  };
}

function withoutNul(text: string): string {
  return text.replaceAll('\0', '');
}

/** Reads a cached answer. Returns null if the row cannot be parsed, because another version wrote it. */
function readKept([row]: readonly unknown[]): KeptResult | null {
  const kept = KeptResult.safeParse(row);
  return kept.success ? kept.data : null;
}

const GET = `
  update tool_cache set used_at = clock_timestamp() where key = $1 and expires_at > clock_timestamp()
  returning findings, summary`;

const PUT = `
  insert into tool_cache (key, tool, repository, findings, summary, bytes, expires_at)
  values ($1, $2, $3, $4::jsonb, $5, $6, ${fromNow('$7')})
  on conflict (key) do update set findings = excluded.findings, summary = excluded.summary,
    bytes = excluded.bytes,
    stored_at = excluded.stored_at, used_at = excluded.used_at, expires_at = excluded.expires_at`;

const SWEEP = `
  with ranked as (
    select key, expires_at, row_number() over newest as nth, sum(bytes) over newest as total
    from tool_cache window newest as (order by used_at desc, key)
  )
  delete from tool_cache c using ranked r
  where c.key = r.key and (r.expires_at <= clock_timestamp() or r.nth > $1 or r.total > $2)
  returning c.key`;
