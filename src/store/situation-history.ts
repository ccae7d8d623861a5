import { z } from 'zod';
import type { Build } from '../domain/build.ts';
import type { Database } from '../ports/database.ts';
import type { CauseHistory } from '../ports/notices.ts';
import { buildColumns, readBuild } from './build-rows.ts';

interface Asked {
  readonly defaultBranch: string | null;
  readonly fingerprints: readonly string[];
}

/** A failure on the default branch that is older says nothing of today. */
const LATELY_MS = 14 * 24 * 3_600_000;

/** Where else the failures of the build were seen before it; asked once for all of them. */
export async function readHistories(
  db: Database,
  build: Build,
  { defaultBranch, fingerprints }: Asked,
): Promise<(fingerprint: string, generic: boolean) => CauseHistory> {
  if (fingerprints.length === 0)
    return (_fingerprint, generic) => ({ generic, defaultBranch: null, otherPullRequests: 0, seenElsewhere: false });
  const rows = z.array(Elsewhere).parse(await db.query(ELSEWHERE, [build.id, defaultBranch, fingerprints]));
  const elsewhere = new Map(rows.map((row) => [row.fingerprint, row]));
  const isOther = defaultBranch !== null && build.branch !== defaultBranch;
  const mains = isOther ? await readMains(db, build, defaultBranch, fingerprints) : [];
  return (fingerprint, generic) => ({
    generic,
    defaultBranch: defaultBranch === null ? null : onDefaultBranch(defaultBranch, mains, fingerprint, build),
    otherPullRequests: elsewhere.get(fingerprint)?.pullRequests ?? 0,
    seenElsewhere: elsewhere.has(fingerprint),
  });
}

const Elsewhere = z.object({ fingerprint: z.string(), pullRequests: z.int() });

interface MainBuild {
  readonly build: Build;
  readonly has: ReadonlySet<string>;
}

async function readMains(db: Database, build: Build, branch: string, fingerprints: readonly string[]): Promise<MainBuild[]> {
  const rows = await db.query<{ has: unknown }>(MAINS, [build.id, branch, fingerprints]);
  return rows.map((row) => ({ build: readBuild(row), has: new Set(z.array(z.string()).parse(row.has)) }));
}

/** `mains` with the newest first. */
function onDefaultBranch(
  name: string,
  mains: readonly MainBuild[],
  fingerprint: string,
  { receivedAt }: Build,
): CauseHistory['defaultBranch'] {
  const [newest] = mains;
  if (newest === undefined) return null;
  const firstWithout = mains.findIndex(({ has }) => !has.has(fingerprint));
  const row = firstWithout < 0 ? mains : mains.slice(0, firstWithout);
  const seen = mains.find(({ has }) => has.has(fingerprint))?.build.receivedAt ?? null;
  const isLate = seen !== null && Date.parse(receivedAt) - Date.parse(seen) <= LATELY_MS;
  return { name, status: newest.build.status, since: row.at(-1)?.build ?? null, lastSeenAt: isLate ? seen : null };
}

// Not of its own pull request, its own branch or its own commit: nothing is matched to an earlier version of itself.
const ELSEWHERE = `
  select f.fingerprint,
    count(distinct b.pull_request) filter (
      where b.pull_request is not null and b.received_at > h.received_at - interval '7 days'
    )::int as "pullRequests"
  from builds h
  join failures f on f.repository = h.repository and f.fingerprint = any ($3::text[]) and f.seen_at <= h.received_at
  join builds b on b.id = f.build_id
  where h.id = $1 and b.id <> h.id
    and (h.pull_request is null or b.pull_request is distinct from h.pull_request)
    and (h.commit is null or b.commit is distinct from h.commit)
    and (h.branch is null or h.branch is not distinct from $2::text or b.branch is distinct from h.branch)
  group by f.fingerprint`;

const MAINS = `
  select ${buildColumns('b')}, array(
      select distinct f.fingerprint from failures f where f.build_id = b.id and f.fingerprint = any ($3::text[])
    ) as has
  from builds h
  join builds b on b.provider = h.provider and b.repository = h.repository and b.pipeline = h.pipeline and b.branch = $2
  where h.id = $1 and b.received_at <= h.received_at and b.id <> h.id and b.status in ('failed', 'passed')
    and (h.commit is null or b.commit is distinct from h.commit)
  order by b.received_at desc, b.id desc limit 100`;
