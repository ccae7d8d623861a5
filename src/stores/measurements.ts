import { z } from 'zod';
import { Build } from '../domain/build.ts';
import { Calibration, CalibrationInUse, cappedMap, everyCategory } from '../domain/calibration.ts';
import { Category } from '../domain/category.ts';
import type { Database, Sql } from '../ports/database.ts';
import {
  CalibrationAct,
  type CalibrationStore,
  type CaseFilter,
  type CaseStore,
  DecidedAnswer,
  type RecordingFilter,
  RecordingHead,
  type RecordingStore,
  StoredCase,
  StoredRecording,
} from '../ports/measurements.ts';
import { RIGHT } from './insights.ts';
import { all, BUILD_COLUMNS, buildColumns, fieldOf, first, isoTime, scopeValue } from './sql.ts';

/** Which calibration counts is decided one after the other, whoever decides. */
export function createCalibrationStore(db: Database): CalibrationStore {
  const bodies = async (text: string, values: readonly unknown[] = []) =>
    (await db.query(text, values)).map((row) => Calibration.parse(Body.parse(row).body));
  return {
    add: async (calibration) =>
      await db.transaction(async (sql) => {
        await sql.query(ALONE);
        const [row] = await sql.query('select coalesce(max(version), 0)::int + 1 as next from calibrations');
        const kept = { ...calibration, version: z.object({ next: z.int() }).parse(row).next };
        const values = [kept.version, kept.analyst, JSON.stringify(kept), kept.createdBy];
        await sql.query('insert into calibrations (version, analyst, body, created_by) values ($1, $2, $3::jsonb, $4)', values);
        return kept;
      }),
    find: async (version) => (await bodies('select body from calibrations where version = $1', [version]))[0] ?? null,
    list: async (limit) =>
      (await db.query('select body from calibrations order by version desc limit $1', [limit])).flatMap(
        (row) => Calibration.safeParse(Body.parse(row).body).data ?? [],
      ),
    inForce: async () => (await db.query(IN_FORCE)).map(inUse),
    use: async ({ analyst, version, replaces, actor }) =>
      await db.transaction(async (sql) => {
        await sql.query(ALONE);
        if ((await currentOf(sql, analyst)) !== replaces) return null;
        const [row] = await sql.query(
          `insert into calibration_acts (analyst, version, replaced, actor) values ($1, $2, $3, $4) returning ${ACT}`,
          [analyst, version, replaces, actor],
        );
        return CalibrationAct.parse(row);
      }),
    acts: async (limit) => await all(db, CalibrationAct, `select ${ACT} from calibration_acts order by id desc limit $1`, [limit]),
    decided: async (limit) => await all(db, DecidedAnswer, DECIDED, [limit]),
    answeredPerDay: async () => await all(db, PerDay, PER_DAY),
  };
}

const Kept = z.object({ version: z.int(), analyst: z.string(), body: z.unknown() });

/** Of a later version's that this one cannot read only this much is sure: somebody bounded what is published. So nothing is, without a person. */
function inUse(row: unknown): CalibrationInUse {
  const { version, analyst, body } = Kept.parse(row);
  const categories = everyCategory(() => ({ ...cappedMap(0, 0, 1), threshold: null }));
  return CalibrationInUse.safeParse(body).data ?? { version, analyst, categories };
}

const Body = z.object({ body: z.unknown() });
const PerDay = z.object({ category: Category, perDay: z.number() });

/** Until the transaction ends. */
const ALONE = `select pg_advisory_xact_lock(hashtext('faultline calibrations'))`;

const ACT = `analyst, version, replaced, actor, ${isoTime('at')} as at`;

const NEWEST_ACTS = 'with newest as (select distinct on (analyst) analyst, version from calibration_acts order by analyst, id desc)';

const IN_FORCE = `${NEWEST_ACTS}
  select c.version, c.analyst, c.body from newest n join calibrations c on c.version = n.version order by c.analyst`;

async function currentOf(sql: Sql, analyst: string): Promise<number | null> {
  const rows = await sql.query('select version from calibration_acts where analyst = $1 order by id desc limit 1', [analyst]);
  return z.object({ version: z.int().nullable() }).parse(rows[0] ?? { version: null }).version;
}

const DECIDED = `
  select * from (
    select f.analysis_id as "analysisId", f.repository, f.analyst, a.body ->> 'model' as model, f.category,
      coalesce((a.body -> 'verdict' -> 'calibration' ->> 'raw')::float8, f.confidence) as stated, ${RIGHT} as right,
      coalesce(r.origin, 'unsure') as origin, f.blind is not null as blind, ${isoTime('f.decided_at')} as "decidedAt"
    from answer_facts f join analyses a on a.id = f.analysis_id left join reviews r on r.analysis_id = f.analysis_id
    where f.decision is not null and f.analyst in ('rules', 'llm')
    order by f.decided_at desc limit $1
  ) as decided where decided.right is not null`;

const PER_DAY = `
  select category, count(*)::float8 / 30 as "perDay" from answer_facts
  where analyst <> 'recall' and created_at > clock_timestamp() - interval '30 days' group by category order by category`;

/** Causes of stored builds, page by page; each page begins where the one before ended, so that new builds move none. */
export function createCaseStore(read: Pick<Sql, 'query'>): CaseStore {
  return {
    list: async (filter, limit, after) => {
      const values = [...filterValues(filter), after?.buildId ?? null, after?.cause ?? null, limit];
      return (await read.query(LIST_CASES, values)).map(readCase);
    },
  };
}

function filterValues({ repository, branch, fingerprint, category, since, until, decided }: CaseFilter): unknown[] {
  return [repository ?? null, branch ?? null, fingerprint ?? null, category ?? null, since ?? null, until ?? null, decided ?? false];
}

const CaseRow = z.record(z.string(), z.unknown());

function readCase(row: unknown): StoredCase {
  const columns = CaseRow.parse(row);
  const build = Build.parse(Object.fromEntries(BUILD_COLUMNS.map(fieldOf).map((field) => [field, columns[field]])));
  return StoredCase.parse({ ...columns, build });
}

const HAPPENED = 'coalesce(b.finished_at, b.started_at, b.received_at)';

// A group's first failure stands for its cause. Ids of builds rise with time.
const LIST_CASES = `
  select ${buildColumns('b')}, f.fingerprint, f.group_number as cause, a.body as analysis, d.body as decision, r.origin
  from failures f
  join builds b on b.id = f.build_id
  left join triages t on t.build_id = f.build_id and t.fingerprint = f.fingerprint
  left join analyses a on a.triage_id = t.id
  left join decisions d on d.analysis_id = a.id
  left join reviews r on r.analysis_id = a.id
  where f.position = 0
    and ($1::text is null or b.repository = $1) and ($2::text is null or b.branch = $2) and ($3::text is null or f.fingerprint = $3)
    and ($4::text is null or coalesce(d.category, a.category) = $4)
    and ($5::timestamptz is null or ${HAPPENED} >= $5) and ($6::timestamptz is null or ${HAPPENED} < $6)
    and (not $7::boolean or d.id is not null)
    and ($8::text is null or (b.id, f.group_number) > ($8, $9::int))
  order by b.id, f.group_number limit $10`;

/** Most bytes of one recording, compressed: some thousand judgements of a model with all that the tools brought. */
const MAX_RECORDING_BYTES = 8 * 1024 * 1024;

export function createRecordingStore(db: Database, maxBytes: number = MAX_RECORDING_BYTES): RecordingStore {
  return {
    append: async ({ triageId, schema, bytes }) => {
      await db.query(APPEND, [triageId, schema, Buffer.from(bytes), maxBytes]);
    },
    list: async (filter, { limit }) => await all(db, RecordingHead, LIST_RECORDINGS, [...valuesOf(filter), limit]),
    find: async (triageId) => await first(db, StoredRecording, FIND, [triageId]),
  };
}

function valuesOf({ runs, repository, repositories, after }: RecordingFilter): unknown[] {
  return [runs === undefined ? null : [...runs], repository ?? null, scopeValue(repositories), after ?? ''];
}

const APPEND = `
  insert into recordings (triage_id, schema, bytes, capped)
  values ($1, $2, case when octet_length($3::bytea) > $4 then ''::bytea else $3::bytea end, octet_length($3::bytea) > $4)
  on conflict (triage_id) do update set
    bytes = case when octet_length(recordings.bytes) + octet_length($3::bytea) > $4
      then recordings.bytes else recordings.bytes || $3::bytea end,
    capped = recordings.capped or octet_length(recordings.bytes) + octet_length($3::bytea) > $4,
    parts = recordings.parts + 1, updated_at = clock_timestamp()`;

const LIST_RECORDINGS = `
  select r.triage_id as "triageId", b.repository, r.schema, r.size, r.parts, r.capped, r.created_at as "createdAt",
    case when a.id is null then null else jsonb_build_object('id', a.id, 'category', a.category, 'analyst', a.analyst,
      'model', a.body -> 'model', 'title', a.body -> 'answer' ->> 'title') end as analysis
  from recordings r join triages t on t.id = r.triage_id join builds b on b.id = t.build_id
    left join analyses a on a.triage_id = r.triage_id
  where ($1::text[] is null or r.triage_id = any($1::text[]) or a.id = any($1::text[]))
    and ($2::text is null or b.repository = $2) and ($3::text[] is null or b.repository like any($3::text[])) and r.triage_id > $4
  order by r.triage_id limit $5`;

const FIND = `
  select r.triage_id as "triageId", r.schema, r.bytes, r.capped, a.body as analysis
  from recordings r left join analyses a on a.triage_id = r.triage_id where r.triage_id = $1`;
