import { z } from 'zod';
import { Action, Analysis, withTried } from '../domain/analysis.ts';
import { Build } from '../domain/build.ts';
import { Category } from '../domain/category.ts';
import { TriageError } from '../domain/errors.ts';
import { type Experiment, VERDICTS } from '../domain/experiment.ts';
import { ProseFreeExperiment } from '../domain/experiment-facts.ts';
import { Failure, FailureRow, Fingerprint } from '../domain/failure.ts';
import { createId } from '../domain/ids.ts';
import type { FailureGroup } from '../domain/reading.ts';
import type { FailureFilter } from '../domain/search.ts';
import { append, findMax } from '../lib/collections.ts';
import type { Clock } from '../lib/time.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import type { HistoryStore } from '../ports/stores.ts';
import { readHistoriesOfBuild } from './failure-history.ts';
import { searchFailures } from './search.ts';
import { buildColumns, buildOrder, insert, queryAll, scopeValue } from './sql.ts';

/** The summary of an analysis for lists. */
export const AnalysisHead = z.object({
  id: z.string(),
  buildId: z.string(),
  /** The category; null if no analyst judged the failure. */
  category: Category.nullable(),
  title: z.string(),
  /** The verdict's confidence, 0..1. */
  confidence: z.number(),
  /** True if several explanations fit, or the analysis abstained from a category. */
  open: z.boolean(),
  action: Action,
  failures: z.int(),
  /** True if a person confirmed its cause, or that of a similar earlier failure. */
  decided: z.boolean(),
  /** True if the library answered and no person has decided this analysis. */
  fromLibrary: z.boolean(),
  /** The category and kind, which determine whether the text said "not the developer's fault" or "flaky". */
  guess: z.object({ category: Category.nullable(), kind: z.string() }),
  /** The verdict of the experiment about it; null if there was none. */
  tried: z.enum(VERDICTS).nullable(),
});
export type AnalysisHead = z.infer<typeof AnalysisHead>;

export function createFailureStore(db: Database) {
  return {
    /**
     * Adds new groups and failures, and returns all groups of the build in the order in which they were first
     * saved. A group is new if its fingerprint is new. Within a known group, a failure is new if its test is
     * new, or, without a test, its message. Stored failures stay as they are, ids included.
     */
    saveGroups: async (buildId: string, groups: readonly FailureGroup[], sql?: Sql) =>
      sql === undefined
        ? await db.transaction((connection) => saveGroups(connection, buildId, groups))
        : await saveGroups(sql, buildId, groups),

    listByBuild: async (buildId: string) =>
      (await listStoredGroups(db, buildId)).flatMap((group) => group.failures),

    /** Lists the failures of a build by their causes, in the order in which they were first saved. */
    groupsOfBuild: async (buildId: string) => await listStoredGroups(db, buildId),

    /** Reads where else the causes of a build occurred, by fingerprint; null if the build is not stored. */
    histories: async (buildId: string) => await readHistoriesOfBuild(db.reader ?? db, buildId),

    /** Searches failures, newest first. Throws `timeout` if the search takes longer than three seconds. */
    search: async (filter: FailureFilter, page: Page) => await searchFailures(db, filter, page, FOUND_ROWS),
  };
}

/**
 * Saves the failure groups of a build and returns the stored ones. Locks the row of the build, so that
 * concurrent callers run in sequence and the second finds what the first has saved.
 */
async function saveGroups(
  sql: Sql,
  buildId: string,
  groups: readonly FailureGroup[],
): Promise<FailureGroup[]> {
  if ((await sql.query('select id from builds where id = $1 for update', [buildId])).length === 0) {
    throw new TriageError('not-found', `There is no build ${buildId}`);
  }
  const rows = createNewRows(buildId, groups, await listStoredRows(sql, buildId));
  if (rows.length > 0) await sql.query(INSERT_FAILURES, [buildId, { rows }]);
  return await listStoredGroups(sql, buildId);
}

const StoredRow = z.object({
  group: z.int(),
  position: z.int(),
  fingerprint: Fingerprint,
  generic: z.boolean(),
  failure: Failure,
});
type StoredRow = z.infer<typeof StoredRow>;

function createNewRows(
  buildId: string,
  groups: readonly FailureGroup[],
  stored: readonly StoredRow[],
): StoredRow[] {
  const rows = [...stored];
  for (const group of groups) {
    const number =
      rows.find((row) => isOfGroup(row, group))?.group ??
      findMax(
        rows.map((row) => row.group),
        -1,
      ) + 1;
    const known = new Set(
      stored.filter((row) => row.group === number).map((row) => getFailureKey(row.failure)),
    );
    // A group keeps its first fingerprint, because its triage is stored under it.
    const { fingerprint, generic } = rows.find((row) => row.group === number) ?? group;
    const from = rows.filter((row) => row.group === number).length;
    const fresh = group.failures.filter((failure) => !known.has(getFailureKey(failure)));
    append(
      rows,
      fresh.map((failure, at) => ({
        group: number,
        position: from + at,
        fingerprint,
        generic,
        failure: { ...failure, buildId },
      })),
    );
  }
  return rows.slice(stored.length);
}

function isOfGroup(row: StoredRow, group: FailureGroup): boolean {
  const { algorithm, version, value } = row.fingerprint;
  return (
    algorithm === group.fingerprint.algorithm &&
    version === group.fingerprint.version &&
    value === group.fingerprint.value
  );
}

function getFailureKey({ test, message }: Failure): string {
  return JSON.stringify(test === null ? [message] : [test.suite, test.name]);
}

async function listStoredRows(sql: Sql, buildId: string): Promise<StoredRow[]> {
  return z.array(StoredRow).parse(await sql.query(STORED, [buildId]));
}

async function listStoredGroups(sql: Sql, buildId: string): Promise<FailureGroup[]> {
  const rows = await listStoredRows(sql, buildId);
  const byNumber = Map.groupBy(rows, (row) => row.group);
  return [...byNumber.values()].flatMap((members) => {
    const [first] = members;
    if (first === undefined) return [];
    return [
      {
        fingerprint: first.fingerprint,
        generic: first.generic,
        failures: members.map((member) => member.failure),
      },
    ];
  });
}

const INSERT_FAILURES = `
  insert into failures (id, build_id, repository, group_number, position, fingerprint_algorithm,
    fingerprint_version, fingerprint,
    generic, test_name, message, body, seen_at)
  select r->'failure'->>'id', b.id, b.repository, (r->>'group')::int, (r->>'position')::int,
    r->'fingerprint'->>'algorithm',
    (r->'fingerprint'->>'version')::int, r->'fingerprint'->>'value', (r->>'generic')::boolean,
      r->'failure'->'test'->>'name',
    r->'failure'->>'message', r->'failure', b.received_at
  from builds b, jsonb_array_elements($2::jsonb->'rows') as r
  where b.id = $1`;

const STORED = `
  select group_number as group, position, generic, body as failure,
    jsonb_build_object('algorithm', fingerprint_algorithm, 'version', fingerprint_version, 'value',
      fingerprint) as fingerprint
  from failures where build_id = $1 order by group_number, position`;

/**
 * SQL for the stored category of an analysis. It is null if no analyst judged the failure (`isJudged`),
 * because the stored value is then meaningless.
 */
const JUDGED_CATEGORY = `case when a.analyst <> 'none' then a.category end`;

/** SQL for a failure with its build and category. A person's decision takes precedence over the machine's. */
const FAILURE_ROW = `f.body as failure, f.repository, b.pipeline, b.number, b.branch, b.commit,
  coalesce(d.category, ${JUDGED_CATEGORY}) as category, a.id as "analysisId",
  case when d.type <> 'reject' then d.reviewer end as "decidedBy",
  f.seen_at as "seenAt"`;

const FAILURE_ROW_FROM = `failures f
  join builds b on b.id = f.build_id
  left join triages t on t.build_id = f.build_id and t.fingerprint = f.fingerprint
  left join analyses a on a.triage_id = t.id
  left join decisions d on d.analysis_id = a.id`;

/** SQL for the rows of the failures that `FOUND` selects, a query for `failure_id` and `seen_at`. */
const FOUND_ROWS = `
  with found as materialized (FOUND)
  select ${FAILURE_ROW} from found
  join ${FAILURE_ROW_FROM.replace('failures f', 'failures f on f.id = found.failure_id')}
  order by found.seen_at desc, found.failure_id desc`;

/** Creates the history store. It only reads, so `db` may be a database's `reader`. */
export function createHistoryStore(db: Pick<Database, 'query'>): HistoryStore {
  return {
    failureHistory: async ({ repository, fingerprint, test, beforeBuildId, limit }) =>
      await queryAll(db, FailureRow, FAILURE_HISTORY, [repository, fingerprint, test, beforeBuildId, limit]),

    consecutiveFailures: async ({ repository, pipeline, branch, buildId, fingerprint = null }) => {
      const rows = await db.query<{ status: string; same: boolean }>(CONSECUTIVE, [
        repository,
        pipeline,
        branch,
        buildId,
        fingerprint,
      ]);
      const failed = rows.filter((row) => row.status === 'failed');
      const other = failed.findIndex(({ same }) => !same);
      const alike = other === -1 ? failed : failed.slice(0, other);
      const [oldest, oldestAlike] = [failed.at(-1), alike.at(-1)];
      const green = rows.find((row) => row.status === 'passed');
      return {
        count: failed.length,
        firstBuild: oldest === undefined ? null : Build.parse(oldest),
        lastGreen: green === undefined ? null : Build.parse(green),
        same: alike.length,
        firstSame: oldestAlike === undefined ? null : Build.parse(oldestAlike),
      };
    },

    similarFailures: async ({ text, excludeBuildId, minScore, limit, repositories }) => {
      const values = [text, excludeBuildId, limit, minScore, scopeValue(repositories)];
      return await queryAll(db, FailureRow.extend({ score: z.number() }), SIMILAR, values);
    },
  };
}

const FAILURE_HISTORY = `
  select ${FAILURE_ROW} from ${FAILURE_ROW_FROM}
  where f.repository = $1 and (f.fingerprint = $2 or f.test_name = $3::text) and f.build_id <> $4
    and f.seen_at <= coalesce((select received_at from builds where id = $4), 'infinity')
  order by f.seen_at desc, f.id desc
  limit $5`;

// The nearest texts are found by the index, and then the newest failures with these texts, because a text
// that occurs every day must not hide the others. More texts than requested are read, because those of the
// build itself are removed, and many more if most may belong to other repositories.
const SIMILAR = `
  with near as materialized (
    select key, similarity(message, $1) as score from failure_messages order by message <-> $1
    limit ($3::int + 20) * case when $5::text[] is null then 1 else 10 end
  ), alike as materialized (
    select f.id, near.score, f.seen_at from near cross join lateral (
      select id, seen_at from failures
      where message_key = near.key and build_id <> $2 and not (generic and test_name is null)
        and ($5::text[] is null or repository like any ($5))
      order by seen_at desc, id desc limit 5
    ) as f
    where near.score >= $4::real
    order by near.score desc, f.seen_at desc, f.id desc
    limit $3::int
  )
  select ${FAILURE_ROW}, alike.score from alike
  join ${FAILURE_ROW_FROM.replace('failures f', 'failures f on f.id = alike.id')}
  order by alike.score desc, f.seen_at desc, f.id desc`;

// Each earlier build number counts once, by its newest attempt, and this build by itself. Canceled and
// unknown builds neither count nor end the series. `greens` counts passed builds backwards from this one.
const CONSECUTIVE = `
  with numbered as (
    select distinct on (b.number) b.*
    from builds base
    join builds b on b.provider = base.provider
      and (b.id = base.id or (b.number <> base.number and ${buildOrder('b')} < ${buildOrder('base')}))
    where base.id = $4 and b.repository = $1 and b.pipeline = $2 and b.branch is not distinct from $3
    order by b.number, b.attempt desc
  ), counted as (
    select n.*, count(*) filter (where n.status = 'passed') over (order by ${buildOrder('n')} desc) as greens
    from numbered n
  )
  select ${buildColumns('c')}, (c.id = $4 and $5::text is not null)
    or exists (select 1 from failures f where f.build_id = c.id and f.fingerprint = $5) as same
  from counted c
  where (c.greens = 0 and c.status = 'failed') or (c.greens = 1 and c.status = 'passed')
  order by ${buildOrder('c')} desc`;

export function createAnalysisStore(db: Database) {
  return {
    /**
     * Saves the analysis of a triage. A triage has exactly one: a second call returns the stored one and
     * `created: false`.
     */
    insertOnce: async (analysis: Analysis, sql: Sql = db) => {
      const { id, triageId, buildId, fingerprint, category, kind, verdict, analyst, createdAt } = analysis;
      const { confidence, action } = verdict;
      const row = {
        id,
        triageId,
        buildId,
        fingerprint,
        category,
        kind,
        confidence,
        action,
        analyst,
        body: analysis,
        createdAt,
      };
      const [created] = await insert(sql, 'analyses', row, 'on conflict do nothing returning body');
      if (created !== undefined) return { analysis: Analysis.parse(created.body), created: true };
      const [stored] = await sql.query<{ body: unknown }>('select body from analyses where triage_id = $1', [
        analysis.triageId,
      ]);
      if (stored === undefined)
        throw new TriageError('conflict', `The ID ${analysis.id} belongs to the analysis of another triage`);
      return { analysis: Analysis.parse(stored.body), created: false };
    },

    find: async (id: string) => {
      const [row] = await db.query<{ body: unknown }>('select body from analyses where id = $1', [id]);
      return row === undefined ? null : Analysis.parse(row.body);
    },

    listByBuild: async (buildId: string) => {
      const rows = await db.query<{ body: unknown }>(
        'select body from analyses where build_id = $1 order by created_at, id',
        [buildId],
      );
      return rows.map((row) => Analysis.parse(row.body));
    },

    /**
     * Lists the heads of the analyses of these builds, oldest first, because whole analyses would be too
     * large for lists.
     */
    heads: async (buildIds: readonly string[]) => await queryAll(db, AnalysisHead, HEADS, [buildIds]),
  };
}

const HEADS = `
  select a.id, a.build_id as "buildId", coalesce(d.category, ${JUDGED_CATEGORY}) as category,
    a.body -> 'answer' ->> 'title' as title, a.confidence,
    jsonb_array_length(coalesce(a.body -> 'answer' -> 'hypotheses', '[]')) > 1
      or coalesce((a.body -> 'classification' ->> 'abstained')::boolean, false) as open,
    a.action, jsonb_array_length(a.body -> 'failureIds') as failures,
    coalesce(d.type in ('accept', 'correct'), a.body -> 'recalled' <> 'null'::jsonb) as decided,
    d.type is null and a.body -> 'recalled' <> 'null'::jsonb as "fromLibrary",
    jsonb_build_object('category', ${JUDGED_CATEGORY}, 'kind', coalesce(a.body ->> 'kind', '')) as guess,
    a.body -> 'experiment' ->> 'verdict' as tried
  from analyses a left join decisions d on d.analysis_id = a.id
  where a.build_id = any ($1::text[]) order by a.created_at, a.id`;

export function createExperimentStore(clock: Clock) {
  return {
    /**
     * Stores the result of an experiment on a build's failure; `by` reported it. Throws `not-found` if there
     * is no such build.
     */
    add: async (buildId: string, experiment: Experiment, by: string, sql: Sql) => {
      // A concurrent conclusion of an answer locks its build: either `apply` sees the answer, or the
      // conclusion sees this experiment.
      const [build] = await sql.query('select 1 from builds where id = $1 for update', [buildId]);
      if (build === undefined) throw new TriageError('not-found', `There is no build ${buildId}.`);
      await sql.query(ADD_EXPERIMENT, [createId('exp', clock.now()), buildId, experiment, by]);
    },
    /**
     * Adds to each answer of a build the newest experiment about it. Returns the ids of the answers that have
     * one.
     */
    apply: async (buildId: string, sql: Sql) => {
      const found = await queryAll(sql, Tried, NEWEST_EXPERIMENTS, [buildId]);
      for (const { analysis, experiment } of found) {
        const { answer } = withTried(analysis, experiment);
        await sql.query('update analyses set body = body || $2::jsonb where id = $1', [
          analysis.id,
          { answer, experiment },
        ]);
      }
      return found.map(({ analysis }) => analysis.id);
    },
  };
}

const ADD_EXPERIMENT = 'insert into experiments (id, build_id, body, reported_by) values ($1, $2, $3, $4)';

const Tried = z.object({ analysis: Analysis, experiment: ProseFreeExperiment });

const NEWEST_EXPERIMENTS = `
  select a.body as analysis, newest.body as experiment from analyses a join (
    select distinct on (a.id) a.id, e.body from experiments e
    join analyses a on a.build_id = e.build_id and is_about(e, a)
    where e.build_id = $1 order by a.id, e.id desc
  ) as newest on a.id = newest.id order by a.id for update of a`;
