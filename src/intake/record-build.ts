import type { Build, NewBuild, TestResult } from '../domain/build.ts';
import { messageOf, TriageError } from '../domain/errors.ts';
import type { TriageJob } from '../domain/triage.ts';
import type { Sql } from '../ports/database.ts';
import { WHOLE_BUILD } from '../ports/stores.ts';
import type { IntakeDeps } from './intake-deps.ts';

/** One message of a sender, by the sender's own id. */
export interface Delivery {
  readonly source: 'github' | 'jenkins' | 'upload';
  readonly deliveryId: string;
  readonly event: string;
  readonly bodySha256: string;
}

export interface Recorded {
  readonly build: Build;
  /** What is owed to the build; null where nothing is (it passed). */
  readonly job: TriageJob | null;
  /** True where the same delivery was here before and nothing changed. */
  readonly repeated: boolean;
}

export interface RecordOptions {
  /** The event cannot tell which attempt of the run it is of: the newest known one is meant. */
  readonly attemptUnknown?: boolean;
  /** What of the build is said to have failed; without it, all of it. */
  readonly part?: string;
  readonly testResults?: readonly TestResult[];
  /** It is of a fork's branch: what passes there says nothing of our branch of that name. */
  readonly fromFork?: boolean;
  readonly defaultBranch?: string | null;
}

/**
 * Keeps a delivery and its build, and what is owed to it, in one transaction; then rings for the work. When this returns,
 * the build survives any crash. A build of which more has failed is owed again. A delivery without news of a failure owes
 * nothing; one that was here before changes nothing; `conflict` where its body is another. What a passed build says is owed
 * to be kept as templates, which is nobody's hurry.
 */
export async function recordBuild(deps: IntakeDeps, delivery: Delivery, build: NewBuild, options: RecordOptions = {}): Promise<Recorded> {
  const before = await findRecorded(deps, delivery);
  if (before !== null) return before;
  const stored = await deps.database.transaction((sql) => store(deps, delivery, build, options, sql));
  // Another copy of the same delivery was faster; its answer is ours.
  if (stored === null) return (await findRecorded(deps, delivery)) ?? lost(delivery);
  const { news, ...recorded } = stored;
  if (news && recorded.job !== null) await ring(deps, recorded.job.id);
  deps.logger.info(
    {
      source: delivery.source,
      deliveryId: delivery.deliveryId,
      event: delivery.event,
      buildId: recorded.build.id,
      jobId: recorded.job?.id ?? null,
      news,
    },
    'build received',
  );
  return recorded;
}

/** What an earlier copy of this delivery led to, or null. Throws `conflict` where the id was used for another body. */
export async function findRecorded(deps: IntakeDeps, delivery: Delivery): Promise<Recorded | null> {
  const kept = await deps.stores.deliveries.find(delivery.source, delivery.deliveryId);
  if (kept === null || kept.buildId === null) return null;
  if (kept.bodySha256 !== delivery.bodySha256) {
    throw new TriageError(
      'conflict',
      `The delivery id ${delivery.deliveryId} was used before for other content. Send new content under a new id.`,
      {
        details: { buildId: kept.buildId },
      },
    );
  }
  const build = await deps.stores.builds.find(kept.buildId);
  if (build === null) return null;
  const job = await deps.stores.triages.findByBuild(build.id);
  deps.logger.info({ source: delivery.source, deliveryId: delivery.deliveryId, buildId: build.id }, 'delivery was here before');
  return { build, job, repeated: true };
}

/** What was kept, and whether it is news of a failure. */
type Stored = Recorded & { readonly news: boolean };

async function store(deps: IntakeDeps, delivery: Delivery, incoming: NewBuild, options: RecordOptions, sql: Sql): Promise<Stored | null> {
  const { builds, deliveries, triages } = deps.stores;
  const { part = WHOLE_BUILD } = options;
  if ((await deliveries.find(delivery.source, delivery.deliveryId, sql)) !== null) return null;
  const named = options.attemptUnknown === true ? await withKnownAttempt(deps, incoming, part, sql) : incoming;
  const { build } = await builds.upsert(named, sql);
  if (!(await deliveries.insertOnce({ ...delivery, buildId: build.id }, sql))) return null;
  if (options.testResults !== undefined && options.testResults.length > 0) await builds.saveTestResults(build.id, options.testResults, sql);
  await rememberGreen(deps, build, options, sql);
  // A run that passed stays passed, though one of its jobs was allowed to fail.
  if (incoming.status !== 'failed' || build.status !== 'failed') return { build, job: null, repeated: false, news: false };
  const news = await builds.addFailedPart(build.id, part, sql);
  const job = news ? await triages.owe(build.id, sql) : await triages.findByBuild(build.id, sql);
  return { build, job, repeated: false, news };
}

async function rememberGreen(deps: IntakeDeps, build: Build, { fromFork, defaultBranch }: RecordOptions, sql: Sql): Promise<void> {
  const { greens } = deps.stores;
  const { provider, repository } = build;
  if (defaultBranch != null) await greens.saveDefaultBranch({ provider, repository, branch: defaultBranch }, sql);
  if (build.status === 'passed' && fromFork !== true) await greens.owe(build.id, sql);
}

async function withKnownAttempt(deps: IntakeDeps, incoming: NewBuild, failedPart: string, sql: Sql): Promise<NewBuild> {
  const { provider, repository, externalId } = incoming;
  if (externalId === null) return incoming;
  const known = await deps.stores.builds.findByExternalId({ provider, repository, externalId, failedPart }, sql);
  return known === null ? incoming : { ...incoming, attempt: known.attempt, pipeline: known.pipeline, number: known.number };
}

/** A queue that fails must not fail the sender: the job is owed in the database, and the sweeper rings again. */
async function ring(deps: IntakeDeps, jobId: string): Promise<void> {
  try {
    await deps.jobQueue.enqueue(jobId);
  } catch (error) {
    deps.logger.warn({ jobId, error: messageOf(error) }, 'the queue did not take the job; it stays owed');
  }
}

function lost(delivery: Delivery): never {
  throw new TriageError(
    'storage-failed',
    `The delivery ${delivery.deliveryId} was kept by another request that did not finish. Send it again.`,
    {
      retryable: true,
      retryAfterMs: 1000,
    },
  );
}
