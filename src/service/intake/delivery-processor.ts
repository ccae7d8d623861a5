import { setTimeout as delay } from 'node:timers/promises';
import { type Build, CONSOLE_LOG, type NewBuild, Provider, WHOLE_BUILD } from '../../domain/build.ts';
import { getErrorMessage, isRetryable } from '../../domain/errors.ts';
import type { TriageJob } from '../../domain/triage.ts';
import { createPassingBuildRequest, gradeEntry, TRIAGE } from '../../domain/work.ts';
import { type Backoff, computeBackoff } from '../../lib/time.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import type { Database, Sql } from '../../ports/database.ts';
import { type Logger, silentTracer, type Tracer } from '../../ports/telemetry.ts';
import { Intake } from '../../providers/webhook.ts';
import type { DeliveryKey, LandedDelivery } from '../../stores/deliveries.ts';
import type { Stores } from '../../stores/stores.ts';
import type { WorkNotifier } from '../../work/notifier.ts';

/** The interval in milliseconds between searches for stored deliveries that no running process has queued. */
const SWEEP_MS = 3_000;
/** The age in milliseconds below which a stored delivery is left to the process that received it. */
const OTHERS_HAVE_IT_MS = 5_000;
const SWEEP_BATCH = 500;
/** The maximum number of queued deliveries. Further ones are left to the searches. */
const MAX_IN_HAND = 20_000;
/**
 * The duration of a pause in relation to the work before it, while senders wait: accepting deliveries is
 * urgent, processing them is not.
 */
const REST_WHILE_BUSY = 3;
/**
 * The same, if the next delivery has waited for `LATE_MS`: during a long flood, accepting and processing
 * share the time.
 */
const REST_WHILE_LATE = 1;
const LATE_MS = 10_000;
/** The maximum pause in milliseconds, even if the work before it was slow. */
const MAX_REST_MS = 250;
const MAX_TRIES = 8;
const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 60_000 };
/**
 * The delay in milliseconds after a temporary error, such as a restart of the database. The number of
 * attempts is unlimited.
 */
const PASSING_RETRY_MS = 2_000;
/** The number of milliseconds to wait for a message to the queue. */
const NOTIFY_MS = 50;
/** The number of milliseconds that a stop waits for the queue. */
const SETTLE_MS = 2_000;

interface DeliveryProcessorDeps {
  readonly stores: Pick<Stores, 'deliveries' | 'builds' | 'triages' | 'passingBuilds' | 'work' | 'notices'>;
  readonly database: Pick<Database, 'transaction'>;
  readonly archive: Pick<BuildArchive, 'list' | 'put'>;
  readonly notifier: WorkNotifier;
  /** The CI systems that may know more of a build than its event says. */
  readonly buildSources?: Readonly<Partial<Record<Build['provider'], Pick<BuildSource, 'complete'>>>>;
  readonly logger: Logger;
  /** The tracer that continues the trace of the received delivery. */
  readonly tracer?: Tracer;
  /** Returns true if senders are waiting for the database. */
  readonly busy?: () => boolean;
}

export type DeliveryProcessor = ReturnType<typeof createDeliveryProcessor>;

interface InHand {
  readonly key: DeliveryKey;
  readonly since: number;
}

/**
 * Creates a processor that turns stored deliveries into builds. Any number of processes may run one, because
 * a delivery is locked while it is processed.
 */
export function createDeliveryProcessor(deps: DeliveryProcessorDeps) {
  const inHand = new Map<string, InHand>();
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function add(key: DeliveryKey): void {
    if (stopped || inHand.size >= MAX_IN_HAND) return;
    const name = `${key.source} ${key.deliveryId}`;
    if (!inHand.has(name)) inHand.set(name, { key, since: performance.now() });
    // Processing starts in a later turn, so that the HTTP response is written first.
    running ??= new Promise<void>((resolve) => setImmediate(resolve)).then(run);
  }

  async function run(): Promise<void> {
    for (const [name, { key, since }] of inHand) {
      if (stopped) break;
      const startedAt = performance.now();
      const reached = await processOne(deps, key);
      inHand.delete(name);
      // The database is unavailable. All queued deliveries remain stored, and the searches find them when it
      // is available again.
      if (!reached) inHand.clear();
      // PGlite answers within the turn. Without a pause, no request would be read until all queued deliveries
      // are processed.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (deps.busy?.() !== true) continue;
      // If the queue is in the same database, notifying it is work for the database as well.
      await deps.notifier.settle(NOTIFY_MS);
      await delay(computeRest(performance.now() - startedAt, startedAt - since));
    }
    running = null;
  }

  async function sweep(olderThanMs: number): Promise<void> {
    try {
      for (const key of await deps.stores.deliveries.listPending(olderThanMs, SWEEP_BATCH)) add(key);
    } catch (error) {
      deps.logger.warn({ error }, 'landed deliveries could not be listed; will retry');
    }
  }

  return {
    /** Queues a delivery that this process has just stored. */
    add,
    /**
     * Searches, now and then every few seconds, for deliveries that a crash left behind or that were
     * postponed.
     */
    sweep: () => {
      if (stopped || timer !== undefined) return;
      timer = setInterval(() => void sweep(OTHERS_HAVE_IT_MS), SWEEP_MS);
      timer.unref();
      void sweep(0);
    },
    /** Resolves when no delivery is queued. */
    idle: async () => {
      while (running !== null) await running;
    },
    /** Finishes the delivery in progress. The others remain stored. */
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      await running;
      await deps.notifier.settle(SETTLE_MS);
    },
  };
}

/**
 * Returns the pause in milliseconds while senders wait, from the time spent on a delivery and the time that
 * the delivery had waited.
 */
function computeRest(workedMs: number, waitedMs: number): number {
  return Math.min(MAX_REST_MS, workedMs * (waitedMs > LATE_MS ? REST_WHILE_LATE : REST_WHILE_BUSY));
}

/**
 * Starts a processor for a process without an HTTP server. It processes deliveries that other processes
 * stored but did not process.
 */
export function startDeliveryProcessor(deps: Omit<DeliveryProcessorDeps, 'busy'>) {
  const processor = createDeliveryProcessor(deps);
  processor.sweep();
  return processor;
}

/**
 * Processes one delivery. Never throws: a delivery that fails is postponed or set aside. Returns false if the
 * database could not be reached.
 */
async function processOne(deps: DeliveryProcessorDeps, key: DeliveryKey): Promise<boolean> {
  let taken: LandedDelivery | null = null;
  try {
    // Before the transaction, which must not wait for another service.
    const completed = await completeIntake(deps, key);
    const done = await deps.database.transaction(async (sql) => {
      taken = await deps.stores.deliveries.claim(key, sql);
      return taken === null ? null : await record(deps, taken, sql, completed);
    });
    if (done === null) return true;
    await keepLog(deps, done);
    announce(deps, done);
    return true;
  } catch (error) {
    if (taken !== null) return await postpone(deps, taken, error);
    deps.logger.warn({ ...key, error }, 'landed deliveries cannot be recorded now; will retry');
    return false;
  }
}

interface Done {
  readonly delivery: LandedDelivery;
  readonly intake: Intake;
  readonly stored: StoredBuild;
}

/** Time limit of asking a CI about a build, in milliseconds. */
const COMPLETE_MS = 5_000;

/**
 * Returns a delivery with what its CI knows beyond the event; null if the event is all there is. If the build
 * is known, its repository stays; if the CI does not answer, the event has to do.
 */
async function completeIntake(
  { stores, buildSources = {}, logger }: DeliveryProcessorDeps,
  key: DeliveryKey,
): Promise<Intake | null> {
  const complete = buildSources[Provider.parse(key.source)]?.complete;
  const waiting = complete === undefined ? null : await stores.deliveries.read(key);
  if (complete === undefined || waiting === null) return null;
  const intake = Intake.parse(waiting.intake);
  const { build, incomplete } = intake;
  if (incomplete !== true || build.url === null) return null;
  const [known] = await stores.builds.list({ provider: build.provider, urls: [build.url] }, ONE);
  if (known !== undefined) return { ...intake, build: { ...build, repository: known.repository } };
  try {
    return { ...intake, build: await complete(build, AbortSignal.timeout(COMPLETE_MS)) };
  } catch (error) {
    logger.warn({ ...key, error }, 'the CI could not be asked about a build; its event has to do');
    return null;
  }
}

const ONE = { limit: 1, offset: 0 };

async function record(
  deps: DeliveryProcessorDeps,
  delivery: LandedDelivery,
  sql: Sql,
  completed: Intake | null,
): Promise<Done | null> {
  const intake = completed ?? Intake.parse(delivery.intake);
  const { source, deliveryId, event } = delivery;
  const facts = { 'faultline.source': source, 'faultline.delivery.id': deliveryId, 'faultline.event': event };
  const outline = {
    name: 'record delivery',
    kind: 'consumer' as const,
    facts,
    parent: intake.traceparent ?? null,
  };
  const stored = await (deps.tracer ?? silentTracer).span(outline, () =>
    storeBuild(deps, intake, sql, (build) => deps.stores.deliveries.markRecorded(delivery, build.id, sql)),
  );
  return stored === null ? null : { delivery, intake, stored };
}

/**
 * Stores the part of the console log that the event contained. A log that is fetched later replaces it; a log
 * that was fetched before is kept.
 */
async function keepLog(
  { archive, logger }: DeliveryProcessorDeps,
  { intake: { log }, stored: { build } }: Done,
): Promise<void> {
  if (log == null) return;
  try {
    if ((await archive.list(build.id)).some(({ name }) => name === CONSOLE_LOG)) return;
    await archive.put(build.id, {
      name: CONSOLE_LOG,
      kind: 'log',
      text: log,
      notes: ['Only the end of the log came with the event.'],
    });
  } catch (error) {
    // The build is stored, and its CI will be asked for the whole log.
    logger.warn({ buildId: build.id, error }, 'the log sent with an event could not be stored');
  }
}

function announce(
  { notifier, logger }: DeliveryProcessorDeps,
  { delivery, stored: { build, job, news } }: Done,
): void {
  if (news && job !== null) notifier.notify(TRIAGE, build.id);
  const { source, deliveryId, event } = delivery;
  logger.info({ source, deliveryId, event, buildId: build.id, news }, 'build received');
}

async function postpone(
  { stores, logger }: DeliveryProcessorDeps,
  { source, deliveryId, attempts: before }: LandedDelivery,
  error: unknown,
): Promise<boolean> {
  const passes = isRetryable(error);
  const attempts = before + (passes ? 0 : 1);
  const refuse = attempts >= MAX_TRIES;
  const delayMs = passes ? PASSING_RETRY_MS : computeBackoff(BACKOFF, attempts, 1);
  const fields = { source, deliveryId, attempts, error };
  if (refuse)
    logger.error(
      fields,
      'a delivery could not be recorded and is set aside; deliver it again once the cause is fixed',
    );
  else logger.warn({ ...fields, delayMs }, 'a delivery could not be recorded yet; will retry');
  try {
    await stores.deliveries.postpone(
      { source, deliveryId },
      { error: getErrorMessage(error).slice(0, 1000), delayMs, attempts, refuse },
    );
    return true;
  } catch {
    return false;
  }
}

interface StoreBuildDeps {
  readonly stores: Pick<Stores, 'builds' | 'triages' | 'passingBuilds' | 'work' | 'notices'>;
}

export interface StoredBuild {
  readonly build: Build;
  /** The triage job of the build. Null if there is none because the build passed. */
  readonly job: TriageJob | null;
  /** True if new failures of the build became known, so that a worker must be notified. */
  readonly news: boolean;
}

/**
 * Creates or updates the build, and calls `keep` with it before its triage job is written. Requires a
 * transaction.
 */
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
  // A passed run stays passed, even if one of its jobs was allowed to fail.
  if (intake.build.status !== 'failed' || build.status !== 'failed') {
    await wanted();
    return { build, job: null, news: false };
  }
  const news = await builds.addFailedPart(build.id, part, sql);
  const job = news ? await triages.request(build.id, sql) : await triages.findByBuild(build.id, sql);
  // The event of the run may name the pull request that the events of its jobs did not.
  await wanted();
  return { build, job, news };
}

type BuildStores = StoreBuildDeps['stores'];

async function rememberGreen(
  { passingBuilds, work }: BuildStores,
  build: Build,
  { fromFork, defaultBranch }: Intake,
  sql: Sql,
): Promise<void> {
  const { provider, repository } = build;
  if (defaultBranch != null)
    await passingBuilds.saveDefaultBranch({ provider, repository, branch: defaultBranch }, sql);
  if (build.status !== 'passed') return;
  await work.add([gradeEntry(build.id)], sql);
  if (fromFork !== true) await work.addOnce([createPassingBuildRequest(build.id)], sql);
}

async function withKnownAttempt(
  { builds }: BuildStores,
  intake: Intake,
  failedPart: string,
  sql: Sql,
): Promise<NewBuild> {
  const { build: incoming, attemptUnknown, attemptAt = null } = intake;
  const { provider, repository, externalId } = incoming;
  if (externalId === null || (attemptUnknown !== true && attemptAt === null)) return incoming;
  const key = { provider, repository, externalId };
  if (attemptUnknown === true) {
    const known = await builds.findByExternalId({ ...key, failedPart }, sql);
    return known === null
      ? incoming
      : { ...incoming, attempt: known.attempt, pipeline: known.pipeline, number: known.number };
  }
  let known = await builds.findByExternalId(key, sql);
  if (known === null || attemptAt === null) return incoming;
  if (known.finishedAt !== null && attemptAt > known.finishedAt)
    return { ...incoming, attempt: known.attempt + 1 };
  // A late event is about the earliest attempt that had not ended before it.
  for (let attempt = known.attempt - 1; attempt >= 1; attempt -= 1) {
    const before: Build | null = await builds.findByExternalId({ ...key, attempt }, sql);
    if (before === null || before.finishedAt === null || attemptAt > before.finishedAt) break;
    known = before;
  }
  return { ...incoming, attempt: known.attempt };
}
