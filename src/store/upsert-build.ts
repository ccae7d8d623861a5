import type { Build, NewBuild } from '../domain/build.ts';
import { newId } from '../domain/ids.ts';
import type { Sql } from '../ports/database.ts';
import { BUILD_COLUMNS, buildColumns, readBuild } from './build-rows.ts';

/**
 * Stores a build or adds to the known one; `BuildStore.upsert` says which is which. Two events of one run may carry
 * different keys, so no unique index alone can make them one: the callers of one repository take turns. Needs a transaction.
 */
export async function upsertBuild(sql: Sql, build: NewBuild, now: number): Promise<{ readonly build: Build; readonly created: boolean }> {
  await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`build ${build.provider} ${build.repository}`]);
  const [known] = await sql.query<{ id: string }>(FIND_KNOWN, [
    ...[build.provider, build.repository, build.attempt, build.pipeline, build.number, build.externalId],
  ]);
  if (known === undefined) {
    const [row] = await sql.query(INSERT, insertValues(build, now));
    return { build: readBuild(row), created: true };
  }
  const [row] = await sql.query(ADD_FIELDS, [
    ...[known.id, build.pipeline, build.number, build.externalId, build.job, build.branch, build.commit, build.author],
    ...[build.pullRequest, build.url, build.status, build.startedAt, build.finishedAt],
  ]);
  return { build: readBuild(row), created: false };
}

function insertValues(build: NewBuild, now: number): unknown[] {
  return [
    ...[newId('bld', now), build.provider, build.repository, build.pipeline, build.number, build.attempt, build.externalId],
    ...[build.job, build.branch, build.commit, build.author, build.pullRequest, build.url, build.status, build.startedAt],
    ...[build.finishedAt, new Date(now).toISOString()],
  ];
}

// Where both keys name a build and they differ, the one with the CI's own number goes first.
const FIND_KNOWN = `
  select id from builds
  where provider = $1 and repository = $2 and attempt = $3 and ((pipeline = $4 and number = $5) or external_id = $6)
  order by (pipeline = $4 and number = $5) desc
  limit 1`;

const INSERT = `
  insert into builds as b (${BUILD_COLUMNS.map(([column]) => column).join(', ')})
  values (${BUILD_COLUMNS.map((_, index) => `$${index + 1}`).join(', ')})
  returning ${buildColumns('b')}`;

/** The stored number is the run id, kept until the CI's own number is known. */
const PROVISIONAL = `(b.number = b.external_id and $4 = b.external_id and $3 <> $4)`;

const ADD_FIELDS = `
  update builds b set
    pipeline = case when ${PROVISIONAL} then $2 else b.pipeline end,
    number = case when ${PROVISIONAL} then $3 else b.number end,
    external_id = coalesce(b.external_id, (
      select $4::text where not exists (
        select from builds o where o.provider = b.provider and o.repository = b.repository and o.external_id = $4 and o.attempt = b.attempt
      )
    )),
    job = coalesce(b.job, $5),
    branch = case when ${PROVISIONAL} then coalesce($6, b.branch) else coalesce(b.branch, $6) end,
    commit = coalesce(b.commit, $7),
    author = coalesce(b.author, $8),
    pull_request = coalesce(b.pull_request, $9),
    url = coalesce(b.url, $10),
    status = case when b.status = 'unknown' then $11 else b.status end,
    started_at = coalesce(b.started_at, $12),
    finished_at = coalesce(b.finished_at, $13)
  where b.id = $1
  returning ${buildColumns('b')}`;
