import { z } from 'zod';
import { Analysis } from '../domain/analysis.ts';
import { Build } from '../domain/build.ts';
import { Calibration, CalibrationInUse, createCappedMap } from '../domain/calibration.ts';
import { Category, mapCategories } from '../domain/category.ts';
import { ROUTES, Route } from '../domain/publish-bound.ts';
import { Decision, ReviewOrigin } from '../domain/review.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import { buildColumns, isoTime, queryAll, queryFirst, scopeValue } from './sql.ts';

/**
 * A change of the calibration in force: the person, the calibration and the time. If `version` is null, no
 * calibration is in force from then on.
 */
export const CalibrationAct = z.object({
  analyst: z.string(),
  version: z.int().nullable(),
  replaced: z.int().nullable(),
  actor: z.string(),
  at: z.iso.datetime(),
});
export type CalibrationAct = z.infer<typeof CalibrationAct>;

/**
 * An answer that a person decided or a later build graded, reduced to the fields that a calibration is fitted
 * to.
 */
export const DecidedAnswer = z.object({
  analysisId: z.string(),
  repository: z.string(),
  /** The analyst, "rules" or "llm". */
  analyst: z.string(),
  model: z.string().nullable(),
  /** The hashes of the prompts, by node. */
  promptHashes: z.record(z.string(), z.string()),
  category: Category,
  /** The confidence after verification and before calibration. */
  stated: z.number(),
  right: z.boolean(),
  /**
   * The reason for the review: `audit` if it was drawn at random from published answers, `outcome` if no
   * person decided and a later build graded it.
   */
  origin: z.enum(['unsure', 'asked', 'audit', 'outcome']),
  decidedAt: z.iso.datetime(),
});
export type DecidedAnswer = z.infer<typeof DecidedAnswer>;

/** A decided answer as an outcome of its route. */
const OwnOutcome = z.object({ route: Route, stated: z.number(), right: z.boolean(), origin: z.string() });

/** The filter for stored failures; a field that is not given does not restrict the result. */
export interface CaseFilter {
  readonly repository?: string;
  readonly branch?: string;
  readonly fingerprint?: string;
  /** The category that a person decided, or else the analyst's. */
  readonly category?: Category;
  /** The time since which builds ended, or else began or were received; ISO 8601. */
  readonly since?: string;
  readonly until?: string;
  /** True to include only cases with a standing decision by a person. */
  readonly decided?: true;
}

/** One cause of one failed build, with its answer and a person's decision on it, if they exist. */
export const StoredCase = z.object({
  build: Build,
  fingerprint: z.string(),
  /** The number of the cause in its build, from 0. */
  cause: z.int(),
  analysis: Analysis.nullable(),
  /** The standing decision. */
  decision: Decision.nullable(),
  origin: ReviewOrigin.nullable(),
});
export type StoredCase = z.infer<typeof StoredCase>;

/** The position at which a page ends and the next one begins. */
export type CaseCursor = Pick<StoredCase, 'cause'> & { readonly buildId: string };

/** A part of a recording: gzip of JSON lines, which can be concatenated. */
interface RecordingPart {
  readonly triageId: string;
  readonly schema: number;
  readonly bytes: Uint8Array;
}

/** The summary of a stored recording for lists. */
export const RecordingHead = z.object({
  triageId: z.string(),
  repository: z.string(),
  schema: z.int(),
  /** The stored size in bytes. */
  size: z.int(),
  parts: z.int(),
  capped: z.boolean(),
  createdAt: z.string(),
  /** The analysis; null if the run has not ended with one. */
  analysis: z
    .object({
      id: z.string(),
      category: z.string(),
      analyst: z.string(),
      model: z.string().nullable(),
      title: z.string(),
    })
    .nullable(),
});
export type RecordingHead = z.infer<typeof RecordingHead>;

export const StoredRecording = z.object({
  triageId: z.string(),
  schema: z.int(),
  bytes: z.instanceof(Uint8Array),
  capped: z.boolean(),
  analysis: Analysis.nullable(),
});
export type StoredRecording = z.infer<typeof StoredRecording>;

export interface RecordingFilter {
  /** Ids of triages or of analyses; all if absent. */
  readonly runs?: readonly string[];
  readonly repository?: string;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
  /** The last triage of the previous page. Only later entries of the list are returned. */
  readonly after?: string;
}

/**
 * The store of calibrations and the answers that they are fitted to, over all repositories. It is for
 * operators and workers; no route may use it.
 */
export type CalibrationStore = ReturnType<typeof createCalibrationStore>;

/**
 * Creates the store of calibrations. Changes of the calibration in force are serialized, also between
 * processes.
 */
export function createCalibrationStore(db: Database) {
  const bodies = async (text: string, values: readonly unknown[] = []) =>
    (await db.query(text, values)).map((row) => Calibration.parse(Body.parse(row).body));
  return {
    /** Stores a calibration under the next version and returns it with that version. */
    add: async (calibration: Calibration) =>
      await db.transaction(async (sql) => {
        await sql.query(ALONE);
        const [row] = await sql.query('select coalesce(max(version), 0)::int + 1 as next from calibrations');
        const kept = { ...calibration, version: z.object({ next: z.int() }).parse(row).next };
        const values = [kept.version, kept.analyst, JSON.stringify(kept), kept.createdBy];
        await sql.query(
          'insert into calibrations (version, analyst, body, created_by) values ($1, $2, $3::jsonb, $4)',
          values,
        );
        return kept;
      }),
    find: async (version: number) =>
      (await bodies('select body from calibrations where version = $1', [version]))[0] ?? null,
    /** Lists calibrations, newest first. Leaves out those of a later version that cannot be read. */
    list: async (limit: number) =>
      (await db.query('select body from calibrations order by version desc limit $1', [limit])).flatMap(
        (row) => Calibration.safeParse(Body.parse(row).body).data ?? [],
      ),
    /**
     * Lists the calibrations in force, at most one for each analyst. A calibration that cannot be read
     * publishes nothing: a run must neither fail because of it nor continue as if there were none.
     */
    inForce: async () => (await db.query(IN_FORCE)).map(parseCalibrationInUse),
    /**
     * Puts a version, or none, in force for its analyst if `replaces` is the version in force. Otherwise
     * changes nothing and returns null.
     */
    use: async ({
      analyst,
      version,
      replaces,
      actor,
    }: {
      readonly analyst: string;
      readonly version: number | null;
      readonly replaces: number | null;
      readonly actor: string;
    }) =>
      await db.transaction(async (sql) => {
        await sql.query(ALONE);
        if ((await readCurrentVersion(sql, analyst)) !== replaces) return null;
        const [row] = await sql.query(
          `insert into calibration_acts (analyst, version, replaced, actor) values ($1, $2, $3, $4)
            returning ${ACT}`,
          [analyst, version, replaces, actor],
        );
        return CalibrationAct.parse(row);
      }),
    /** Lists the changes to the calibrations in force, newest first. */
    acts: async (limit: number) =>
      await queryAll(db, CalibrationAct, `select ${ACT} from calibration_acts order by id desc limit $1`, [
        limit,
      ]),
    /**
     * Lists decisions that still stand and that show whether the category was right, newest first, and the
     * answers without a decision that later builds graded. Recalled answers are left out, because no analyst
     * judged them.
     */
    decided: async (limit: number) => await queryAll(db, DecidedAnswer, DECIDED, [limit]),
    /**
     * Lists the same answers as far as they show which answers may be published. Leaves out answers that
     * were made before routes were stored.
     */
    outcomes: async (limit: number) => await queryAll(db, OwnOutcome, OUTCOMES, [limit]),
    /**
     * Returns the average number of answers per day in each category, over the last thirty days and without
     * recalled answers.
     */
    answeredPerDay: async () => await queryAll(db, PerDay, PER_DAY),
  };
}

const Kept = z.object({ version: z.int(), analyst: z.string(), body: z.unknown() });

/**
 * Parses a calibration. If it was written by a newer version and is unreadable, returns a calibration that
 * publishes nothing without a person, because a limit on publishing was in force.
 */
function parseCalibrationInUse(row: unknown): CalibrationInUse {
  const { version, analyst, body } = Kept.parse(row);
  const categories = mapCategories(() => ({ ...createCappedMap(0, 0, 1), threshold: null }));
  return CalibrationInUse.safeParse(body).data ?? { version, analyst, categories };
}

const Body = z.object({ body: z.unknown() });
const PerDay = z.object({ category: Category, perDay: z.number() });

/** SQL for a lock that is held until the transaction ends. */
const ALONE = `select pg_advisory_xact_lock(hashtext('faultline calibrations'))`;

const ACT = `analyst, version, replaced, actor, ${isoTime('at')} as at`;

const NEWEST_ACTS =
  'with newest as (select distinct on (analyst) analyst, version from calibration_acts order by ' +
  'analyst, id desc)';

const IN_FORCE = `${NEWEST_ACTS}
  select c.version, c.analyst, c.body from newest n join calibrations c on c.version = n.version
  order by c.analyst`;

async function readCurrentVersion(sql: Sql, analyst: string): Promise<number | null> {
  const rows = await sql.query(
    'select version from calibration_acts where analyst = $1 order by id desc limit 1',
    [analyst],
  );
  return z.object({ version: z.int().nullable() }).parse(rows[0] ?? { version: null }).version;
}

const STATED = `coalesce((a.body -> 'verdict' -> 'calibration' ->> 'raw')::float8, f.confidence)`;

// Answers with a decision, and graded answers without one. A person's decision takes precedence over the
// grade.
const KNOWN = `
  select f.analysis_id, f.repository, f.analyst, f.category, f.confidence,
    case when f.decision is null then g.category_grade = 'right' else f.is_right end as is_right,
    case when f.decision is null then 'outcome' else coalesce(f.review_origin, 'unsure') end as origin,
    coalesce(f.decided_at, g.graded_at) as known_at
  from answer_facts f left join answer_grades g on g.analysis_id = f.analysis_id
  where f.analyst in ('rules', 'llm')
    and (f.decision is not null or g.category_grade in ('right', 'wrong'))`;

const DECIDED = `
  select * from (
    select f.analysis_id as "analysisId", f.repository, f.analyst, a.body ->> 'model' as model,
      coalesce(a.body -> 'promptHashes', '{}') as "promptHashes", f.category,
      ${STATED} as stated, f.is_right as right, f.origin, ${isoTime('f.known_at')} as "decidedAt"
    from (${KNOWN}) as f join analyses a on a.id = f.analysis_id
    order by f.known_at desc limit $1
  ) as decided where decided.right is not null`;

const OUTCOMES = `
  select a.body -> 'verdict' ->> 'route' as route, ${STATED} as stated, f.is_right as right, f.origin
  from (${KNOWN}) as f join analyses a on a.id = f.analysis_id
  where f.is_right is not null
    and a.body -> 'verdict' ->> 'route' = any(array[${ROUTES.map((route) => `'${route}'`).join(', ')}])
  order by f.known_at desc limit $1`;

const PER_DAY = `
  select category, count(*)::float8 / 30 as "perDay" from answer_facts
  where analyst <> 'recall' and created_at > clock_timestamp() - interval '30 days' group by category
  order by category`;

/**
 * The store of failures as cases for measurements. It is for commands of operators: it has no scope, and no
 * route may use it.
 */
export type CaseStore = ReturnType<typeof createCaseStore>;

/**
 * Creates the store of causes of stored builds. Each page begins where the previous one ended, so that new
 * builds do not shift any.
 */
export function createCaseStore(read: Pick<Sql, 'query'>) {
  return {
    /**
     * Lists the next `limit` causes after `after`, oldest build first, with the causes of each build in their
     * order.
     */
    list: async (filter: CaseFilter, limit: number, after: CaseCursor | null) => {
      const values = [...filterValues(filter), after?.buildId ?? null, after?.cause ?? null, limit];
      return (await read.query(LIST_CASES, values)).map((row) => StoredCase.parse({ ...row, build: row }));
    },
  };
}

function filterValues({
  repository,
  branch,
  fingerprint,
  category,
  since,
  until,
  decided,
}: CaseFilter): unknown[] {
  return [
    repository ?? null,
    branch ?? null,
    fingerprint ?? null,
    category ?? null,
    since ?? null,
    until ?? null,
    decided ?? false,
  ];
}

const HAPPENED = 'coalesce(b.finished_at, b.started_at, b.received_at)';

// A group's first failure stands for its cause. The ids of builds are ordered by time.
const LIST_CASES = `
  select ${buildColumns('b')}, f.fingerprint, f.group_number as cause, a.body as analysis, d.body as decision,
    r.origin
  from failures f
  join builds b on b.id = f.build_id
  left join triages t on t.build_id = f.build_id and t.fingerprint = f.fingerprint
  left join analyses a on a.triage_id = t.id
  left join decisions d on d.analysis_id = a.id
  left join reviews r on r.analysis_id = a.id
  where f.position = 0
    and ($1::text is null or b.repository = $1) and ($2::text is null or b.branch = $2)
    and ($3::text is null or f.fingerprint = $3)
    and ($4::text is null or coalesce(d.category, a.category) = $4)
    and ($5::timestamptz is null or ${HAPPENED} >= $5) and ($6::timestamptz is null or ${HAPPENED} < $6)
    and (not $7::boolean or d.id is not null)
    and ($8::text is null or (b.id, f.group_number) > ($8, $9::int))
  order by b.id, f.group_number limit $10`;

/**
 * Maximum size of one recording in bytes, compressed: some thousand judgments of a model with everything that
 * the tools returned.
 */
const MAX_RECORDING_BYTES = 8 * 1024 * 1024;

/** The store of recordings, one for each triage. They are deleted with their build. */
export type RecordingStore = ReturnType<typeof createRecordingStore>;

export function createRecordingStore(db: Database, maxBytes: number = MAX_RECORDING_BYTES) {
  return {
    /**
     * Appends a part to a recording. Leaves the part out if the recording would become larger than the store
     * takes, and marks the recording as capped.
     */
    append: async ({ triageId, schema, bytes }: RecordingPart) => {
      await db.query(APPEND, [triageId, schema, Buffer.from(bytes), maxBytes]);
    },
    /** Lists recordings in the order of the triages' ids, which begin with their time. */
    list: async (filter: RecordingFilter, { limit }: Pick<Page, 'limit'>) =>
      await queryAll(db, RecordingHead, LIST_RECORDINGS, [...toFilterValues(filter), limit]),
    find: async (triageId: string) => await queryFirst(db, StoredRecording, FIND, [triageId]),
  };
}

function toFilterValues({ runs, repository, repositories, after }: RecordingFilter): unknown[] {
  return [runs === undefined ? null : [...runs], repository ?? null, scopeValue(repositories), after ?? ''];
}

const APPEND = `
  insert into recordings (triage_id, schema, bytes, capped)
  values ($1, $2, case when octet_length($3::bytea) > $4 then ''::bytea
    else $3::bytea end, octet_length($3::bytea) > $4)
  on conflict (triage_id) do update set
    bytes = case when octet_length(recordings.bytes) + octet_length($3::bytea) > $4
      then recordings.bytes else recordings.bytes || $3::bytea end,
    capped = recordings.capped or octet_length(recordings.bytes) + octet_length($3::bytea) > $4,
    parts = recordings.parts + 1, updated_at = clock_timestamp()`;

const LIST_RECORDINGS = `
  select r.triage_id as "triageId", b.repository, r.schema, r.size, r.parts, r.capped,
    r.created_at as "createdAt",
    case when a.id is null then null
      else jsonb_build_object('id', a.id, 'category', a.category, 'analyst', a.analyst,
      'model', a.body -> 'model', 'title', a.body -> 'answer' ->> 'title') end as analysis
  from recordings r join triages t on t.id = r.triage_id join builds b on b.id = t.build_id
    left join analyses a on a.triage_id = r.triage_id
  where ($1::text[] is null or r.triage_id = any($1::text[]) or a.id = any($1::text[]))
    and ($2::text is null or b.repository = $2) and ($3::text[] is null or b.repository like any($3::text[]))
    and r.triage_id > $4
  order by r.triage_id limit $5`;

const FIND = `
  select r.triage_id as "triageId", r.schema, r.bytes, r.capped, a.body as analysis
  from recordings r left join analyses a on a.triage_id = r.triage_id where r.triage_id = $1`;
