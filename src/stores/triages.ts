import { z } from 'zod';
import { Step } from '../domain/analysis.ts';
import { TriageError } from '../domain/errors.ts';
import { createId } from '../domain/ids.ts';
import { Triage, TriageJob } from '../domain/triage.ts';
import type { Clock } from '../lib/time.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { GaugeValue } from '../ports/telemetry.ts';
import { fromNow, IS_DEFAULT, listColumns, queryAll, queryFirst } from './sql.ts';
import { REQUEST_AGAIN } from './work.ts';

/** A finished step of an unfinished run. `position` increases with each step, with possible gaps. */
export const RunStep = z.object({ position: z.int(), step: Step });
export type RunStep = z.infer<typeof RunStep>;

/** A change of a build, or of its repository if there is no build. */
export const Change = z.object({ id: z.int(), repository: z.string(), buildId: z.string().nullable() });
export type Change = z.infer<typeof Change>;

export type TriageStore = ReturnType<typeof createTriageStore>;

/** A function that returns the traceparent of the span in which work is requested; null if tracing is off. */
export type Traceparent = () => string | null;

/** Creates the store of triages: the work on builds, and on each of their failure groups. */
export function createTriageStore(db: Database, clock: Clock, traceparent: Traceparent = () => null) {
  return {
    /**
     * Requests a triage of a build: one work item for each build. Each call means that there is something
     * new: an ended triage is due again, a running one runs once more, and a postponed one is due now. Must
     * be called in the transaction that stores the build.
     */
    request: async (buildId: string, sql: Sql = db) => {
      const [job] = await queryAll(sql, TriageJob, REQUEST, [buildId, traceparent()]);
      if (job === undefined) throw new TriageError('internal', `Build ${buildId} is not stored`);
      return job;
    },
    /**
     * Records that the stored logs cover all requests up to the time when `job` was read. Later requests must
     * still be fetched.
     */
    markFetched: async ({ buildId, requested }: TriageJob, sql: Sql = db) => {
      await sql.query(MARK_FETCHED, [buildId, requested]);
    },
    findByBuild: async (buildId: string, sql: Sql = db) =>
      await queryFirst(sql, TriageJob, FIND_BY_BUILD, [buildId]),
    /** Returns the triage of one failure group, and creates it on the first call. */
    open: async (buildId: string, fingerprint: string, sql: Sql = db) => {
      const [created] = await sql.query(OPEN, [createId('tri', clock.now()), buildId, fingerprint]);
      const [row] = created === undefined ? await sql.query(FIND_TRIAGE, [buildId, fingerprint]) : [created];
      return Triage.parse(row);
    },
    conclude: async (triageId: string, analysisId: string, sql: Sql) => {
      await sql.query(`update triages set state = 'concluded', analysis_id = $2 where id = $1`, [
        triageId,
        analysisId,
      ]);
    },
  };
}

/** Returns SQL for the state of a triage, or null if there is none; `table` is the alias of `work`. */
export const TRIAGE_STATE = (table: string) => `
  case when ${table}.key is null then null when ${table}.held then 'running'
    when ${table}.version > ${table}.settled then 'queued'
    when ${table}.outcome = 'failed' then 'failed' else 'done' end`;

/** Returns a select list for `TriageJob`; `table` is the alias of `work`. */
const createJobColumns = (table: string) =>
  listColumns(TriageJob, table, {
    state: TRIAGE_STATE(table),
    requested: `${table}.version`,
    fetched: `coalesce((${table}.result->>'fetched')::int, 0)`,
    error: `case when ${table}.held then null else ${table}.error end`,
    traceparent: `${table}.payload->>'traceparent'`,
    updatedAt: `${table}.changed_at`,
  });

const TRIAGE = listColumns(Triage);

// Failures of the default branch come first, imported builds last.
const REQUEST = `
  insert into work as w (topic, key, build_id, group_key, priority, payload)
  select 'triage', b.id, b.id, b.repository,
    case when b.imported_at is not null then 2 when ${IS_DEFAULT('b')} then 0 else 1 end,
    jsonb_strip_nulls(jsonb_build_object('provider', b.provider, 'traceparent', $2::text))
  from builds b where b.id = $1
  on conflict (topic, key) do update set ${REQUEST_AGAIN('w')},
    group_key = excluded.group_key, priority = excluded.priority, payload = w.payload || excluded.payload
  returning ${createJobColumns('w')}`;

const FIND_BY_BUILD = `select ${createJobColumns('w')} from work w where topic = 'triage' and key = $1`;

const MARK_FETCHED = `
  update work set result = coalesce(result, '{}')
    || jsonb_build_object('fetched', greatest(coalesce((result->>'fetched')::int, 0), $2::int))
  where topic = 'triage' and key = $1`;

const OPEN = `
  insert into triages (id, build_id, fingerprint, state) values ($1, $2, $3, 'open')
  on conflict (build_id, fingerprint) do nothing returning ${TRIAGE}`;

const FIND_TRIAGE = `select ${TRIAGE} from triages where build_id = $1 and fingerprint = $2`;

/**
 * Creates the store of the steps of running triages, from all processes. The steps are only for display, so
 * losing them is harmless. Steps of crashed runs are deleted when another run ends or restarts.
 */
export function createRunStepStore(db: Database) {
  return {
    add: async (buildId: string, step: Step) => {
      await db.query('insert into run_steps (build_id, step) values ($1, $2::jsonb)', [buildId, step]);
    },
    /** Lists the steps of this build after a position, in order; at most 300. */
    after: async (buildId: string, position: number) =>
      await queryAll(
        db,
        RunStep,
        'select position, step from run_steps where build_id = $1 and position > $2 order by ' +
          'position limit 300',
        [buildId, position],
      ),
    /** Deletes the steps of a build whose triage starts over or has ended. */
    forget: async (buildId: string) => {
      await db.query(
        `delete from run_steps where build_id = $1 or stored_at < clock_timestamp() - interval '1 day'`,
        [buildId],
      );
    },
  };
}

export type ChangeStore = ReturnType<typeof createChangeStore>;

/**
 * Creates the store of recent changes in all repositories. Triggers record them, and they are kept for a
 * minute.
 */
export function createChangeStore(db: Pick<Sql, 'query'>) {
  return {
    /**
     * Lists the newest 2,000 changes of the last `milliseconds`. A change is dated before its transaction
     * ends, which may be seconds later.
     */
    recent: async (milliseconds: number) => await queryAll(db, Change, RECENT, [-milliseconds]),
  };
}

const RECENT = `select id, repository, build_id as "buildId" from changes
  where at > ${fromNow('$1')} order by at desc limit 2000`;

interface BacklogRow {
  readonly queued: number;
  readonly running: number;
  readonly oldest: number;
  readonly landed: number;
  readonly publications: number;
  readonly reviews: number;
}

/**
 * Reads the amount of pending work from the database: one statement over partial indexes, whose cost depends
 * on the pending rows and not on all rows.
 */
export async function readBacklog(sql: Sql): Promise<readonly GaugeValue[]> {
  const [row] = await sql.query<BacklogRow>(BACKLOG);
  if (row === undefined) return [];
  return [
    { name: 'faultline_queue_depth', labels: { state: 'queued' }, value: row.queued },
    { name: 'faultline_queue_depth', labels: { state: 'running' }, value: row.running },
    { name: 'faultline_queue_oldest_seconds', labels: {}, value: Math.max(0, row.oldest) },
    { name: 'faultline_deliveries_landed', labels: {}, value: row.landed },
    { name: 'faultline_publications_pending', labels: {}, value: row.publications },
    { name: 'faultline_review_pending', labels: {}, value: row.reviews },
  ];
}

const BACKLOG = `
  select triages.queued, triages.running, triages.oldest,
    (select count(*)::int from deliveries where state = 'landed') as landed,
    (select count(*)::int from work
       where (topic like 'publish:%' or topic like 'message:%') and version > settled) as publications,
    (select count(*)::int from reviews where state in ('waiting', 'claimed')) as reviews
  from (
    select count(*) filter (where not held)::int as queued, count(*) filter (where held)::int as running,
      coalesce(extract(epoch from clock_timestamp() - min(due_at)
         filter (where not held)), 0)::float8 as oldest
    from work where topic = 'triage' and version > settled
  ) as triages`;
