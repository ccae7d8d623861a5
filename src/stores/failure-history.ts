import { z } from 'zod';
import { Build } from '../domain/build.ts';
import type { FailureHistory, ProvingBuild } from '../domain/failure-history.ts';
import { measureFlakiness, type TestRunFacts, WINDOW } from '../domain/flakiness.ts';
import { omitUndefined } from '../lib/collections.ts';
import type { Sql } from '../ports/database.ts';
import { readRunsOfTests } from './flakiness.ts';
import { buildColumns, queryAll, USUAL_NAMES } from './sql.ts';

/** The maximum age of a relevant failure on the default branch, in milliseconds. */
const LATELY_MS = 14 * 24 * 3_600_000;
/** The maximum number of builds of a branch that are read before a build, and after it. */
const [BEFORE, AFTER] = [100, 50];
/** The maximum number of failed tests of a cause for which earlier results of each test are considered. */
const MAX_TESTS = 5;
/** The maximum number of failures of one build that are compared with other builds. */
const MAX_FAILURES = 500;

/**
 * Returns the default branch of a repository: the one that its CI reported, otherwise a usual name that has
 * builds; null if neither is known.
 */
export async function readDefaultBranch(
  db: Sql,
  { provider, repository }: Pick<Build, 'provider' | 'repository'>,
): Promise<string | null> {
  const [known] = await db.query<{ branch: string | null }>(DEFAULT_BRANCH, [provider, repository]);
  return known?.branch ?? null;
}

/** Reads the histories of all causes of a build, by fingerprint. Returns null if it is not stored. */
export async function readHistoriesOfBuild(
  db: Sql,
  buildId: string,
): Promise<ReadonlyMap<string, FailureHistory> | null> {
  const [build] = await queryAll(db, Build, `select ${buildColumns('b')} from builds b where b.id = $1`, [
    buildId,
  ]);
  if (build === undefined) return null;
  const rows = await db.query<{ fingerprint: string }>(
    'select distinct fingerprint from failures where build_id = $1',
    [buildId],
  );
  const fingerprints = rows.map(({ fingerprint }) => fingerprint);
  const find = await readHistories(db, build, fingerprints, await readDefaultBranch(db, build));
  return new Map(fingerprints.map((fingerprint) => [fingerprint, find(fingerprint)]));
}

/** Reads where else the failures of the build occurred, with the same queries for all of them. */
export async function readHistories(
  db: Sql,
  build: Build,
  fingerprints: readonly string[],
  defaultBranch: string | null,
): Promise<(fingerprint: string) => FailureHistory> {
  const isDefault = build.pullRequest === null && build.branch !== null && build.branch === defaultBranch;
  const mine = fingerprints.length === 0 ? [] : await queryAll(db, Mine, MINE, [build.id]);
  const isRead = mine.length > 0;
  const mains =
    isRead && defaultBranch !== null ? await queryAll(db, Near, MAINS, [build.id, defaultBranch]) : [];
  const owns = isRead ? await queryAll(db, Near, OWNS, [build.id]) : [];
  const [passedAgain] = isRead ? await queryAll(db, Build, AGAIN, [build.id]) : [];
  const firsts = fingerprints.map((fingerprint) => findFirst(owns, fingerprint, build));
  const others = isRead
    ? await queryAll(db, Elsewhere, ELSEWHERE, [build.id, defaultBranch, fingerprints, firsts])
    : [];
  const elsewhere = new Map(others.map((row) => [row.fingerprint, row]));
  const incidents = isRead ? await queryAll(db, Incident, INCIDENTS, [build.id, INCIDENT_MINUTES]) : [];
  const byFingerprint = new Map(incidents.map(({ fingerprint, ...one }) => [fingerprint, one]));
  const tests = isRead ? await readTests(db, build, mine, mains, isDefault) : new Map<string, TestPast>();
  return (fingerprint) => ({
    generic: mine.some((failure) => failure.fingerprint === fingerprint && failure.generic),
    isDefault,
    defaultBranch: describeDefaultBranch(defaultBranch, mains, fingerprint, build),
    otherPullRequests: elsewhere.get(fingerprint)?.pullRequests ?? 0,
    seenElsewhere: elsewhere.has(fingerprint),
    own: describeOwn(owns, fingerprint, build),
    ...omitUndefined({ incident: byFingerprint.get(fingerprint) }),
    passedAgain: passedAgain === undefined ? null : toProvingBuild(passedAgain),
    test: tests.get(fingerprint) ?? null,
  });
}

const Mine = z.object({
  fingerprint: z.string(),
  own: z.string(),
  test: z.string().nullable(),
  suite: z.string().nullable(),
  generic: z.boolean(),
});
type Mine = z.infer<typeof Mine>;

/**
 * A build of a branch. `has` lists the causes of the given build that it has as well, with all their tests.
 */
const Near = Build.extend({ has: z.array(z.string()), later: z.boolean() });
type Near = z.infer<typeof Near>;

/**
 * The time before and after a build, in minutes, in which failures to reach the same host belong to one
 * incident.
 */
const INCIDENT_MINUTES = 15;
const Incident = z.object({ fingerprint: z.string(), host: z.string(), repositories: z.int() });

// Repositories are only counted, so that readers do not learn their names.
const INCIDENTS = `
  select own.fingerprint, own.host, count(distinct b.repository)::int as repositories
  from refused_hosts own
  join builds base on base.id = own.build_id
  join refused_hosts other on other.host = own.host
    and other.at between own.at - $2::int * interval '1 minute' and own.at + $2::int * interval '1 minute'
  join builds b on b.id = other.build_id and b.repository <> base.repository
  where own.build_id = $1
  group by own.fingerprint, own.host`;

const Elsewhere = z.object({ fingerprint: z.string(), pullRequests: z.int() });

/** Describes the default branch. `mains` is ordered oldest first. */
function describeDefaultBranch(
  name: string | null,
  mains: readonly Near[],
  fingerprint: string,
  { receivedAt }: Build,
): FailureHistory['defaultBranch'] {
  const before = mains.filter(({ later }) => !later);
  const newest = before.at(-1);
  if (name === null || newest === undefined) return null;
  const hasIt = ({ has }: Near) => has.includes(fingerprint);
  const row = before.slice(before.findLastIndex((build) => !hasIt(build)) + 1);
  const last = mains.findLast(hasIt);
  const seen = before.findLast(hasIt);
  const isLate = seen !== undefined && Date.parse(receivedAt) - Date.parse(seen.receivedAt) <= LATELY_MS;
  const fixedBy =
    last === undefined
      ? undefined
      : mains.slice(mains.indexOf(last) + 1).find(({ status }) => status === 'passed');
  return {
    name,
    status: newest.status,
    newest: toProvingBuild(newest),
    since: row[0] === undefined ? null : toProvingBuild(row[0]),
    times: row.length,
    lastFailed: isLate ? toProvingBuild(seen) : null,
    fixedBy: fixedBy === undefined ? null : toProvingBuild(fixedBy),
  };
}

function describeOwn(owns: readonly Near[], fingerprint: string, build: Build): FailureHistory['own'] {
  const newest = owns.at(-1);
  const others = owns.findLastIndex(({ has }) => !has.includes(fingerprint));
  return {
    firstAt: findFirst(owns, fingerprint, build),
    times: owns.length - others,
    passed: newest?.status === 'passed' ? toProvingBuild(newest) : null,
  };
}

/** Finds when a failure was first seen on the build's own pull request or branch, within two weeks. */
function findFirst(owns: readonly Near[], fingerprint: string, { receivedAt }: Build): string {
  const from = Date.parse(receivedAt) - LATELY_MS;
  const first = owns.find((build) => build.has.includes(fingerprint) && Date.parse(build.receivedAt) >= from);
  return first?.receivedAt ?? receivedAt;
}

function toProvingBuild(build: Build): ProvingBuild {
  const { id, pipeline, number, attempt, url, commit, author, receivedAt } = build;
  return { id, pipeline, number, attempt, url, commit, author, receivedAt };
}

type TestPast = NonNullable<FailureHistory['test']>;

/** Reads the earlier results of the failed tests, outside of the build's own pull request and branch. */
async function readTests(
  db: Sql,
  build: Build,
  mine: readonly Mine[],
  mains: readonly Near[],
  isDefault: boolean,
): Promise<ReadonlyMap<string, TestPast>> {
  const asked = [...Map.groupBy(mine, ({ fingerprint }) => fingerprint)].flatMap(([fingerprint, queries]) => {
    const tests = queries.flatMap((failure) =>
      failure.test === null ? [] : [{ ...failure, name: failure.test }],
    );
    return tests.length < queries.length || tests.length > MAX_TESTS ? [] : [{ fingerprint, tests }];
  });
  if (asked.length === 0) return new Map();
  const names = asked.flatMap(({ tests }) => tests);
  const isOthers = ({ buildId, branch }: TestRunFacts) =>
    buildId !== build.id && (isDefault || branch !== build.branch);
  const runs = (await readRunsOfTests(db, build.repository, names)).map((testRuns) =>
    testRuns.filter(isOthers),
  );
  const newest = mains.findLast(({ later }) => !later)?.id;
  const passed = mains.filter(({ status }) => status === 'passed').map(({ id }) => id);
  const [reported] = await db.query('select 1 from test_results where build_id = any ($1::text[]) limit 1', [
    passed,
  ]);
  const flakes = runs.map(listFlakes);
  const alike = await queryAll(db, Alike, ALIKE, [flakes.flat(), names.map(({ own }) => own)]);
  const pasts = names.map(({ name, own }, at): TestPast => {
    const found = flakes[at] ?? [];
    const same = alike.filter((run) => run.test === name && run.own === own);
    return {
      runs: Math.min(WINDOW, runs[at]?.length ?? 0),
      flakes: found.length,
      alike: same.filter(({ buildId }) => found.includes(buildId)).length,
      passedOnDefault:
        runs[at]?.some(({ buildId, outcome }) => buildId === newest && outcome === 'passed') === true,
      isNew: reported !== undefined && runs[at]?.some(({ onDefaultBranch }) => onDefaultBranch) !== true,
    };
  });
  let from = 0;
  const weakest = asked.map(({ fingerprint, tests }) => {
    const pastRuns = pasts.slice(from, from + tests.length);
    from += tests.length;
    const [least] = pastRuns.toSorted(
      (left, right) => left.alike - right.alike || left.flakes - right.flakes,
    );
    const isNew = pastRuns.every((past) => past.isNew);
    const passedOnDefault = pastRuns.every((past) => past.passedOnDefault);
    return [fingerprint, least === undefined ? null : { ...least, isNew, passedOnDefault }] as const;
  });
  return new Map(weakest.flatMap(([fingerprint, past]) => (past === null ? [] : [[fingerprint, past]])));
}

function listFlakes(runs: readonly TestRunFacts[]): string[] {
  return measureFlakiness(runs, WINDOW).recent.flatMap(({ buildId, mark }) =>
    mark === 'flake' ? [buildId] : [],
  );
}

const Alike = z.object({ buildId: z.string(), test: z.string(), own: z.string() });

const OWN = `f.body -> 'fingerprint' ->> 'value'`;

const DEFAULT_BRANCH = `
  select coalesce(
    (select branch from default_branches where provider = $1 and repository = $2),
    (select branch from builds where provider = $1 and repository = $2
      and branch in (${USUAL_NAMES}) order by received_at desc limit 1)
  ) as branch`;

const MINE = `select distinct f.fingerprint, ${OWN} as own, f.test_name as test,
    f.body -> 'test' ->> 'suite' as suite, f.generic
  from failures f where f.build_id = $1 limit ${MAX_FAILURES}`;

// A build has the cause if it has each of its failures, alone or in another group.
const HAS = `case when b.status = 'failed' then array(
    select m.fingerprint from mine m group by m.fingerprint having bool_and(exists (
      select from failures f where f.build_id = b.id and f.test_name is not distinct from m.test
        and (f.fingerprint = m.fingerprint or ${OWN} = m.own)
    ))
  ) else '{}' end as has`;

const near = (condition: string, after: number) => `
  with mine as materialized (${MINE}), found as (
    select b.id, false as later from builds h join builds b on b.provider = h.provider
      and b.repository = h.repository and b.pipeline = h.pipeline and ${condition}
    where h.id = $1 and b.id <> h.id and b.status in ('failed', 'passed')
      and b.received_at <= h.received_at
    order by b.received_at desc, b.id desc limit ${BEFORE}
  ), later as (
    select b.id, true as later from builds h join builds b on b.provider = h.provider
      and b.repository = h.repository and b.pipeline = h.pipeline and ${condition}
    where h.id = $1 and b.id <> h.id and b.status in ('failed', 'passed')
      and b.received_at > h.received_at
    order by b.received_at, b.id limit ${after}
  )
  select ${buildColumns('b')}, n.later, ${HAS}
  from (select * from found union all select * from later) as n join builds b on b.id = n.id
  order by b.received_at, b.id`;

const MAINS = near(
  `b.branch = $2::text and b.pull_request is null
    and (h.commit is null or b.commit is distinct from h.commit)`,
  AFTER,
);
const OWNS = near(
  `b.pull_request is not distinct from h.pull_request
    and (h.pull_request is not null or b.branch is not distinct from h.branch)`,
  0,
);

// A pull request is built merged with its target branch, which may have changed between two of its builds.
const AGAIN = `
  select ${buildColumns('b')} from builds h join builds b on b.provider = h.provider
    and b.repository = h.repository and b.pipeline = h.pipeline and b.commit = h.commit
    and b.branch is not distinct from h.branch and b.pull_request is not distinct from h.pull_request
    and (h.pull_request is null or b.number = h.number)
  where h.id = $1 and b.id <> h.id and b.status = 'passed' and b.received_at > h.received_at
  order by b.received_at, b.id limit 1`;

// Builds of its own pull request, branch or commit are excluded, so that a failure is not compared with an
// earlier version of the same change. Pull requests of one author may contain the same change.
const ELSEWHERE = `
  select f.fingerprint,
    count(distinct b.pull_request) filter (
      where b.pull_request is not null and f.seen_at < o.at and f.seen_at > o.at - interval '7 days'
        and (h.author is null or b.author is distinct from h.author)
    )::int as "pullRequests"
  from builds h
  cross join unnest($3::text[], $4::timestamptz[]) as o (fingerprint, at)
  join failures f on f.repository = h.repository and f.fingerprint = o.fingerprint
    and f.seen_at <= h.received_at
  join builds b on b.id = f.build_id
  where h.id = $1 and b.id <> h.id
    and (h.pull_request is null or b.pull_request is distinct from h.pull_request)
    and (h.commit is null or b.commit is distinct from h.commit)
    and (h.branch is null or h.branch is not distinct from $2::text or b.branch is distinct from h.branch)
  group by f.fingerprint`;

const ALIKE = `
  select distinct f.build_id as "buildId", f.test_name as test, ${OWN} as own from failures f
  where f.build_id = any ($1::text[]) and f.test_name is not null and ${OWN} = any ($2::text[])`;
