import type { Sql } from '../ports/database.ts';
import type { Reading } from '../ports/telemetry.ts';

interface Row {
  readonly queued: number;
  readonly running: number;
  readonly oldest: number;
  readonly landed: number;
  readonly owed: number;
  readonly reviews: number;
}

/** How much is owed, as the database knows it: one statement over partial indexes, whose cost goes by what is owed and not by what is kept. */
export async function readBacklog(sql: Sql): Promise<readonly Reading[]> {
  const [row] = await sql.query<Row>(BACKLOG);
  if (row === undefined) return [];
  return [
    { name: 'faultline_queue_depth', labels: { state: 'queued' }, value: row.queued },
    { name: 'faultline_queue_depth', labels: { state: 'running' }, value: row.running },
    { name: 'faultline_queue_oldest_seconds', labels: {}, value: Math.max(0, row.oldest) },
    { name: 'faultline_deliveries_landed', labels: {}, value: row.landed },
    { name: 'faultline_publications_owed', labels: {}, value: row.owed },
    { name: 'faultline_review_pending', labels: {}, value: row.reviews },
  ];
}

const BACKLOG = `
  select jobs.queued, jobs.running, jobs.oldest,
    (select count(*)::int from deliveries where state = 'landed') as landed,
    (select count(*)::int from outward_acts where state in ('owed', 'started')) as owed,
    (select count(*)::int from reviews where state in ('waiting', 'claimed')) as reviews
  from (
    select count(*) filter (where state = 'queued')::int as queued, count(*) filter (where state = 'running')::int as running,
      coalesce(extract(epoch from clock_timestamp() - min(owed_at) filter (where state = 'queued')), 0)::float8 as oldest
    from triage_jobs where state in ('queued', 'running')
  ) as jobs`;
