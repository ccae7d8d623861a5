import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Build, GreenBuild } from '../domain/build.ts';
import { type EnvironmentRecord, RecordedKind, type RecordedVersion } from '../domain/environment-record.ts';
import type { Database, Sql } from '../ports/database.ts';
import { isBefore, USUAL_NAMES } from './sql.ts';

/** The record of a log of a passed build, and the build. */
export interface GreenRecord {
  readonly record: EnvironmentRecord;
  readonly build: GreenBuild;
  readonly commit: string | null;
}

/** The record of a log, with the key that the same log has in other builds. */
export interface KeyedRecord {
  readonly log: string;
  readonly record: EnvironmentRecord;
}

export type EnvironmentStore = ReturnType<typeof createEnvironmentStore>;

/**
 * Creates the store of builds' environments. A record is split into parts at names that a hash chooses, so
 * that one new version makes one new part, and all other parts are shared between runs.
 */
export function createEnvironmentStore(db: Database) {
  return {
    /**
     * Stores the records of a build. Of passed builds, only the newest record of each log for each day,
     * pipeline and branch is kept.
     */
    save: async (buildId: string, records: readonly KeyedRecord[], sql: Sql = db) => {
      for (const { log, record } of records) {
        const parts = splitParts(record.versions).map((body) => ({ id: createPartId(body), body }));
        await sql.query(INSERT_PARTS, [parts.map(({ id }) => id), parts.map(({ body }) => body)]);
        const ids = parts.map(({ id }) => id);
        await sql.query(INSERT, [buildId, log, ids, formatSteps(record)]);
      }
      if (records.length > 0) await sql.query(KEEP_NEWEST, [buildId]);
    },
    /** Stores the external hosts that the causes of a build could not reach. */
    saveRefusedHosts: async (
      buildId: string,
      hosts: readonly { readonly fingerprint: string; readonly host: string }[],
    ) => {
      for (const { fingerprint, host } of hosts) await db.query(INSERT_HOST, [buildId, fingerprint, host]);
    },
    /** Finds for each of these logs the record of the newest passed build before the given one. */
    lastGreen: async (
      buildId: string,
      logs: readonly string[],
    ): Promise<ReadonlyMap<string, GreenRecord>> => {
      const rows = (await db.query(LAST_GREEN, [buildId, logs])).map((row) => Found.parse(row));
      const found = rows.flatMap(({ commit, buildId: id, number, url, ...stored }) =>
        toRecord(stored).map((record) => ({ record, commit, build: { buildId: id, number, url } })),
      );
      return new Map(found.map((row) => [row.record.log, row]));
    },
    /** Returns the stored records of a build, by log. Returns none if the build is unknown. */
    find: async (buildId: string): Promise<EnvironmentRecord[]> =>
      (await db.query(FIND, [buildId])).flatMap((row) => toRecord(Stored.parse(row))),
  };
}

const Stored = z.object({ log: z.string(), body: z.string().nullable(), steps: z.string() });
const Found = GreenBuild.extend({ ...Stored.shape, commit: Build.shape.commit });

function toRecord({ log, body, steps }: z.infer<typeof Stored>): EnvironmentRecord[] {
  if (body === null) return [];
  return [{ log, versions: readParts(body), requirements: [], steps: readSteps(steps) }];
}

/** The average number of entries in a part. */
const PART = 24;

/**
 * Splits the sorted entries after names that their hash selects, so that equal names are split equally in
 * every run.
 */
function splitParts(versions: readonly RecordedVersion[]): string[] {
  const lines = versions
    .map(({ kind, name, version }) => ({ name, text: [kind, name, version].map(toPlainText).join('\t') }))
    .sort((left, right) => (left.text < right.text ? -1 : 1));
  const parts: string[][] = [[]];
  for (const { name, text } of lines) {
    parts.at(-1)?.push(text);
    if (hash(name).readUInt16BE(0) % PART === 0) parts.push([]);
  }
  return parts.filter((part) => part.length > 0).map((part) => part.join('\n'));
}

function readParts(body: string): RecordedVersion[] {
  return body.split('\n').flatMap((line) => {
    const [kind, name = '', version = ''] = line.split('\t');
    const known = RecordedKind.safeParse(kind).data;
    return known === undefined ? [] : [{ kind: known, name, version, line: 0 }];
  });
}

/** Returns the name of a part: a hash of 16 bytes, because a collision would mix up environments. */
function createPartId(body: string): string {
  return hash(body).subarray(0, 16).toString('hex');
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function toPlainText(text: string): string {
  return text.replace(/[\t\n\0]/g, ' ').toWellFormed();
}

function formatSteps({ steps }: EnvironmentRecord): string {
  return steps.map(({ name, seconds }) => `${seconds}\t${toPlainText(name)}`).join('\n');
}

function readSteps(text: string): { name: string; seconds: number }[] {
  if (text === '') return [];
  return text.split('\n').map((line) => {
    const [seconds = '0', name = ''] = line.split('\t');
    return { name, seconds: Number(seconds) };
  });
}

const INSERT_PARTS = `
  insert into environment_parts (id, body) select i.id::uuid, i.body
    from unnest($1::text[], $2::text[]) as i (id, body) on conflict do nothing`;

/** Returns SQL for the time by which runs of a job are ordered. */
const TIME = (build: string) => `coalesce(${build}.started_at, ${build}.received_at)`;

const JOB = (build: string, log: string) =>
  `md5(jsonb_build_array(${build}.provider, ${build}.repository, ${build}.pipeline,
    ${log}::text)::text)::uuid`;

const INSERT = `
  insert into environments (build_id, log, job, branch, at, passed, parts, steps)
    select b.id, $2, ${JOB('b', '$2')}, coalesce(b.branch, ''), ${TIME('b')}, b.status = 'passed',
      $3::uuid[], $4 from builds b where b.id = $1
  on conflict (build_id, log) do update
    set passed = excluded.passed, parts = excluded.parts, steps = excluded.steps`;

const INSERT_HOST = `
  insert into refused_hosts (build_id, fingerprint, host, at)
    select b.id, $2, $3, coalesce(b.finished_at, b.received_at) from builds b where b.id = $1
  on conflict (build_id, fingerprint) do update set host = excluded.host`;

const DAY = (table: string) => `date_trunc('day', ${table}.at at time zone 'UTC')`;

const KEEP_NEWEST = `
  delete from environments old using environments new
  where new.build_id = $1 and new.passed and old.passed and old.job = new.job and old.branch = new.branch
    and ${DAY('old')} = ${DAY('new')} and old.at < new.at`;

// If parts were deleted while the record was written, it returns nothing rather than some of its parts.
const BODY = `(select case when count(p.id) = cardinality(e.parts)
    then coalesce(string_agg(p.body, E'\\n' order by u.nth), '') end
  from unnest(e.parts) with ordinality as u (id, nth) join environment_parts p on p.id = u.id)`;

/** Returns SQL for the newest record of a passed run before a build, on branches that `branches` selects. */
const NEWEST_GREEN = (branches: string) => `
  select e.parts, e.steps, b.id, b.number, b.url, b.commit
  from environments e join builds b on b.id = e.build_id
  where e.passed and e.job = ${JOB('base', 'wanted.log')} and ${branches} and e.at <= ${TIME('base')}
    and b.id <> base.id and ${isBefore('b', 'base')}
  order by e.at desc limit 1`;

const DEFAULT_BRANCHES = `e.branch = any(coalesce(
  (select array[d.branch] from default_branches d
    where d.provider = base.provider and d.repository = base.repository), array[${USUAL_NAMES}]))`;

const LAST_GREEN = `
  select wanted.log, e.steps, e.id as "buildId", e.number, e.url, e.commit, ${BODY} as body
  from builds base
  cross join unnest($2::text[]) as wanted (log)
  cross join lateral (
    select * from (
      select 1 as rank, own.* from (${NEWEST_GREEN("e.branch = coalesce(base.branch, '')")}) own
      union all
      select 2 as rank, main.* from (${NEWEST_GREEN(DEFAULT_BRANCHES)}) main
    ) either order by rank limit 1
  ) e
  where base.id = $1`;

const FIND = `
  select e.log, e.steps, ${BODY} as body from environments e where e.build_id = $1 order by e.log`;

/** SQL that deletes the parts that no record uses. The records are deleted with their builds. */
export const DROP_UNUSED_PARTS = `
  delete from environment_parts where id not in (select unnest(parts) from environments)`;
