import type { Build, NewBuild } from '../../domain/build.ts';
import type { TriageJob } from '../../domain/triage.ts';
import type { Sql } from '../../ports/database.ts';
import { type Stores, WHOLE_BUILD } from '../../ports/stores.ts';
import type { Intake } from '../../providers/webhook.ts';

export interface StoreBuildDeps {
  readonly stores: Pick<Stores, 'builds' | 'triages' | 'passingBuilds' | 'notices'>;
}

export interface StoredBuild {
  readonly build: Build;
  /** What is owed to the build; null where nothing is (it passed). */
  readonly job: TriageJob | null;
  /** More of it has failed than was known: whoever triages is to be rung for. */
  readonly news: boolean;
}

/** Whether the failure of this build is more urgent than others: one on the branch that everybody works from. */
export function isUrgent({ build, defaultBranch, fromFork }: Intake): boolean {
  return defaultBranch != null && build.branch === defaultBranch && fromFork === false;
}

/** The build that is meant, kept or added to, and `keep` called with it, before what is owed to it is written. Needs a transaction. */
export async function storeBuild(
  { stores }: StoreBuildDeps,
  intake: Intake,
  sql: Sql,
  keep: (build: Build) => Promise<boolean>,
): Promise<StoredBuild | null> {
  const { builds, triages } = stores;
  const { part = WHOLE_BUILD, testResults = [] } = intake;
  const named = await withKnownAttempt(stores, intake, part, sql);
  const { build } = await builds.upsert(named, sql);
  if (!(await keep(build))) return null;
  if (testResults.length > 0) await builds.saveTestResults(build.id, testResults, sql);
  await rememberGreen(stores, build, intake, sql);
  const wanted = () => stores.notices.changed({ buildId: build.id, delayMs: 0 }, sql);
  // A run that passed stays passed, though one of its jobs was allowed to fail.
  if (intake.build.status !== 'failed' || build.status !== 'failed') {
    await wanted();
    return { build, job: null, news: false };
  }
  const news = await builds.addFailedPart(build.id, part, sql);
  const job = news ? await triages.owe(build.id, sql) : await triages.findByBuild(build.id, sql);
  // The run's own event may name the pull request that its jobs' events did not.
  await wanted();
  return { build, job, news };
}

type BuildStores = StoreBuildDeps['stores'];

async function rememberGreen({ passingBuilds }: BuildStores, build: Build, { fromFork, defaultBranch }: Intake, sql: Sql): Promise<void> {
  const { provider, repository } = build;
  if (defaultBranch != null) await passingBuilds.saveDefaultBranch({ provider, repository, branch: defaultBranch }, sql);
  if (build.status === 'passed' && fromFork !== true) await passingBuilds.owe(build.id, sql);
}

async function withKnownAttempt({ builds }: BuildStores, intake: Intake, failedPart: string, sql: Sql): Promise<NewBuild> {
  const { build: incoming, attemptUnknown, attemptAt = null } = intake;
  const { provider, repository, externalId } = incoming;
  if (externalId === null || (attemptUnknown !== true && attemptAt === null)) return incoming;
  const key = { provider, repository, externalId };
  if (attemptUnknown === true) {
    const known = await builds.findByExternalId({ ...key, failedPart }, sql);
    return known === null ? incoming : { ...incoming, attempt: known.attempt, pipeline: known.pipeline, number: known.number };
  }
  let known = await builds.findByExternalId(key, sql);
  if (known === null || attemptAt === null) return incoming;
  if (known.finishedAt !== null && attemptAt > known.finishedAt) return { ...incoming, attempt: known.attempt + 1 };
  // A late one is of the earliest attempt that had not ended before it.
  for (let attempt = known.attempt - 1; attempt >= 1; attempt -= 1) {
    const before: Build | null = await builds.findByExternalId({ ...key, attempt }, sql);
    if (before === null || before.finishedAt === null || attemptAt > before.finishedAt) break;
    known = before;
  }
  return { ...incoming, attempt: known.attempt };
}
