import { openIndexSynchronization, openKnowledge, startEmbedding } from './app/index-synchronization.ts';
import { countAnalysis, instrumentToolbox, recordNode, watchTriage } from './app/instrumentation.ts';
import {
  createAppToolbox,
  createCalibrationReader,
  createInvestigation,
  openAsk,
  openRecorder,
} from './app/investigation.ts';
import {
  openAnalyst,
  openArchive,
  openBuildSources,
  openCodeHost,
  openDatabase,
  openEmbedder,
  openFallbackAnalyst,
  openVectorIndex,
  openWakeUp,
  openWebSearch,
  openWordEmbedder,
} from './app/open-adapters.ts';
import { openChannels } from './app/open-channels.ts';
import { openRepositoryAsk } from './app/open-repository-ask.ts';
import { openRetention } from './app/open-retention.ts';
import { openObserved, openReadiness } from './app/open-telemetry.ts';
import { boundInForce } from './app/publish-bound.ts';
import type { App } from './app/served-app.ts';
import { openLogExplainer } from './app/terminal-app.ts';
import { openSlackButtons } from './channels/slack.ts';
import { createMaskingOptions } from './config/masking.ts';
import { resolveBudgetTokens } from './config/profiles.ts';
import type { Config } from './config/schema.ts';
import type { Step } from './domain/analysis.ts';
import { formatAnalystName } from './domain/calibration.ts';
import { RELEASE } from './domain/trust.ts';
import { TRIAGE } from './domain/work.ts';
import { type Clock, systemClock } from './lib/time.ts';
import { createLogThreads } from './log/worker-pool.ts';
import type { SignInProvider } from './ports/access.ts';
import type { CodeHost } from './ports/code-host.ts';
import type { Database, Failpoint } from './ports/database.ts';
import type { Logger } from './ports/telemetry.ts';
import type { WakeUp } from './ports/work.ts';
import { addGradeRequest, createGradeHandler, type GradeDeps } from './service/grades/grade-work.ts';
import { escalateToReviewer } from './service/triage/conclude.ts';
import { createReviewerClient } from './service/triage/investigate.ts';
import { createOwnerFinder } from './service/triage/owners.ts';
import { createPassingBuildHandler, createStoredGreens } from './service/triage/passing-builds.ts';
import { type TriageBuildDeps, triageBuild } from './service/triage/triage-build.ts';
import { createTriageHandler } from './service/triage/triage-work.ts';
import { createSlackPresses } from './stores/access.ts';
import type { createPostgresCheckpointer } from './stores/checkpointer.ts';
import type { Stores } from './stores/stores.ts';
import { loadKnowledge, readKnowledge } from './tools/knowledge-base.ts';
import { createReaderScope } from './tools/tool.ts';
import { createWorkNotifier } from './work/notifier.ts';
import { startSweeper } from './work/sweeper.ts';
import { startWorker, type Worker } from './work/worker.ts';

/** Milliseconds for which unsent spans may delay shutdown. */
const FLUSH_MS = 2_000;

/** Creates a logger that writes JSON lines to standard error. The `known` secrets never appear in them. */
export async function createLogger(level: string, known: readonly string[] = []): Promise<Logger> {
  return (await import('./adapters/logger/pino.ts')).createPinoLogger(level, { known });
}

/**
 * Opens everything that the configuration names. If a part fails to open, closes the parts that are already
 * open.
 */
export async function createApp(
  config: Config,
  logger: Logger,
  clock: Clock = systemClock,
  failpoint?: Failpoint,
): Promise<App> {
  const opened = await openDatabase(config);
  try {
    return await composeApp(config, logger, clock, opened, failpoint);
  } catch (error) {
    await opened.database.close();
    throw error;
  }
}

export type { App };

type WorkerParts = Pick<App, 'config' | 'stores' | 'logger' | 'tracer' | 'metrics' | 'clock'>;
type OpenedDatabase = Awaited<ReturnType<typeof openDatabase>>;

async function composeApp(
  config: Config,
  logger: Logger,
  clock: Clock,
  opened: OpenedDatabase,
  failpoint?: Failpoint,
): Promise<App> {
  const { database } = opened;
  await database.migrate();
  const { tracer, metrics, stores } = await openObserved(config, database, clock, logger);
  // This runs before any server listens, so no other process can be receiving an upload.
  if (database.exclusive) await stores.builds.withdrawUnfinished(null);
  const archive = await openArchive(config, database, stores.work, logger);
  const vectorIndex = await openVectorIndex(config, database, await openWordEmbedder(), logger);
  const threads = createLogThreads({ masking: createMaskingOptions(config) });
  const { masker } = threads;
  const dying = failpoint === undefined ? {} : { failpoint };
  const found = await openKnowledge({ config, database, masker, clock, logger });
  const indexSynchronization = openIndexSynchronization({ ...stores, vectorIndex, masker, logger, ...dying });
  const parts = {
    config,
    logger,
    clock,
    database,
    stores,
    archive,
    vectorIndex,
    knowledge: found.service,
    masker,
    tracer,
    metrics,
  };
  const steps = new Map<string, string>();
  const channels = await openChannels(config, parts);
  const checkpointer = await opened.checkpointer();
  const triageDeps = await createTriageDeps({ ...parts, found, channels }, steps, checkpointer);
  const deps = { ...triageDeps, wakeWorker: () => background.wake(), threads, ...dying };
  const retention = openRetention({
    ...parts,
    ...indexSynchronization.sync,
    forgetThreads: () => forgetConcluded(database, logger),
  });
  // Last: it runs timers of its own, which nothing may leave behind.
  const wakeUp = await openWakeUp(config.jobQueue, { database, work: stores.work, logger });
  const triage = openTriageWork({ ...parts, wakeUp }, deps, steps);
  const asking = await openAsking(parts, deps);
  const background = openBackground({
    ...parts,
    wakeUp,
    deps,
    found,
    channels,
    indexSynchronization,
    retention,
  });
  return {
    ...parts,
    buildSources: deps.buildSources,
    uploadReaders: threads,
    ...indexSynchronization.sync,
    ...asking.services,
    explainLog: openLogExplainer(config),
    notifier: createWorkNotifier({ wakeUp, logger }),
    unseen: (await import('./judge/judgement.ts')).listUnseenFigures(),
    signIn: await openSignIn(config),
    messengers: channels.messengers,
    slack: await openSlackButtons(config.channels.slack, createSlackPresses(database)),
    retention: retention.client,
    loadKnowledge: async () => loadKnowledge(vectorIndex, await readKnowledge(config.knowledge.folder)),
    work: async () => {
      threads.warmUp();
      await releaseLeftovers(database, stores, logger);
      await recordSetup(config, stores, logger);
      triage.start();
      background.start();
    },
    stopTriage: triage.stop,
    currentStep: async (buildId) => steps.get(buildId) ?? null,
    readiness: openReadiness({ ...parts, wakeUp, toolbox: deps.investigation.toolbox }),
    close: ({ drainMs } = { drainMs: 20_000 }) =>
      closeInOrder([
        () => background.stopBringing(),
        () => triage.stop({ drainMs }),
        () => background.stopEnding(),
        () => Promise.all([threads.close(), asking.close()]),
        () => tracer.flush(FLUSH_MS),
        async () => archive.close?.(),
        () => database.close(),
      ]),
  };
}

/** Opens the questions about stored analyses, and about repositories without a failure. */
async function openAsking(parts: AppParts, deps: TriageBuildDeps & { readonly codeHost: CodeHost }) {
  const { repositoryAsk, close } = await openRepositoryAsk({ ...parts, codeHost: deps.codeHost });
  return { services: { ask: openAsk({ ...parts, ...deps.investigation }), repositoryAsk }, close };
}

/**
 * Closes everything in order. An error does not keep later parts open; the first error is thrown after all
 * were tried.
 */
async function closeInOrder(ends: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const end of ends) await end().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Creates the worker of triages. Removes a build from `steps` when its triage ends. */
function openTriageWork(
  app: WorkerParts & { readonly wakeUp: WakeUp },
  deps: TriageBuildDeps & { readonly failpoint?: Failpoint },
  steps: Map<string, string>,
) {
  const { config, stores, wakeUp } = app;
  const handler = createTriageHandler({
    ...deps,
    leaseMs: config.triage.leaseMs,
    concurrency: config.jobQueue.concurrency,
    maxCrashes: config.triage.maxCrashes,
    triage: (item, run) => watchTriage(item, app, () => triageBuild(item.key, deps, run)),
    escalateToReviewer: (buildId, error, run) => escalateToReviewer(buildId, error, deps, run),
    onAnswered: (buildId) => addGradeRequest(stores, buildId),
    onEnded: (buildId) => forgetSteps(buildId, app, steps),
  });
  let worker: Worker | undefined;
  let stopped: Promise<void> | undefined;
  return {
    start: () => {
      worker = startWorker({ ...deps, work: stores.work, handlers: [handler], wakeUp, intervalMs: LOOK_MS });
    },
    /** Takes no more triages, lets running ones end within the limit, and gives back the rest. */
    stop: ({ drainMs }: { readonly drainMs: number }) => {
      const stop = async () => {
        await worker?.stop(drainMs);
        await wakeUp.close();
      };
      stopped ??= stop();
      return stopped;
    },
  };
}

async function forgetSteps(
  buildId: string,
  { stores, logger }: WorkerParts,
  steps: Map<string, string>,
): Promise<void> {
  steps.delete(buildId);
  await stores.runSteps
    .forget(buildId)
    .catch((error: unknown) =>
      logger.debug({ buildId, error }, 'the steps stored for live pages could not be deleted'),
    );
}

/** Releases or deletes what a crashed process left behind. */
async function releaseLeftovers(database: Database, stores: Stores, logger: Logger): Promise<void> {
  if (database.exclusive) await stores.work.reclaim();
  await forgetConcluded(database, logger);
  await stores.toolCache
    .sweep()
    .catch((error: unknown) => logger.warn({ error }, 'the tool cache could not be cleaned up'));
}

/**
 * Records the setup of this process, by which figures before and after a change are distinguished. Without
 * the record they cannot be distinguished, and nothing else is affected.
 */
async function recordSetup(
  { analyst, triage }: Config,
  { trust }: Pick<Stores, 'trust'>,
  logger: Logger,
): Promise<void> {
  const model = analyst.driver === 'llm' ? analyst.llm.model : null;
  const setup = {
    release: RELEASE,
    analyst: formatAnalystName(analyst.driver, model),
    autoNotify: triage.thresholds.autoNotify,
  };
  await trust
    .record(setup)
    .catch((error: unknown) => logger.warn({ error }, 'the setup of this process could not be recorded'));
}

/** Deletes the checkpoints of concluded triages. A failure only wastes space, so startup continues. */
async function forgetConcluded(database: Database, logger: Logger): Promise<void> {
  const { sweepCheckpoints } = await import('./stores/checkpointer.ts');
  try {
    const threads = await sweepCheckpoints(database);
    if (threads > 0) logger.info({ threads }, 'checkpoints of concluded triages deleted');
  } catch (error) {
    logger.warn({ error }, 'checkpoints of concluded triages could not be deleted');
  }
}

/**
 * Opens the identity provider that signs users in as an alternative to tokens. Returns null if none is
 * configured.
 */
async function openSignIn({ auth }: Pick<Config, 'auth'>): Promise<SignInProvider | null> {
  const { issuer, clientId, ...rest } = auth.openId;
  if (issuer === null || clientId === null) return null;
  return (await import('./adapters/identity/openid.ts')).createOpenIdProvider({ issuer, clientId, ...rest });
}

const SWEEP_MS = 5_000;
/**
 * Milliseconds between two looks for pending work. What this process requests is processed immediately, what
 * others do within this time, so that "looking" appears within seconds of the webhook.
 */
const LOOK_MS = 1_000;

interface BackgroundParts extends Pick<App, 'config' | 'database' | 'stores' | 'logger'>, Opened {
  readonly wakeUp: WakeUp;
  readonly deps: TriageBuildDeps & Pick<GradeDeps, 'codeHost'>;
  readonly indexSynchronization: ReturnType<typeof openIndexSynchronization>;
  readonly retention: ReturnType<typeof openRetention>;
}

/** The knowledge base and the notification channels: triage uses both, and both have background work. */
interface Opened {
  readonly found: Awaited<ReturnType<typeof openKnowledge>>;
  readonly channels: Awaited<ReturnType<typeof openChannels>>;
}

/** Creates the background work that every worker process runs in addition to triage. */
function openBackground({ channels, indexSynchronization, retention, ...parts }: BackgroundParts) {
  const { stores, logger, wakeUp, deps } = parts;
  const isTriageWaiting = async () => (await stores.work.due([TRIAGE])).length > 0;
  const passing =
    deps.greenBuilds > 0 ? [createPassingBuildHandler({ ...deps, flagging: deps }, isTriageWaiting)] : [];
  const grading = createGradeHandler(deps, isTriageWaiting);
  const handlers = [
    ...channels.handlers,
    ...indexSynchronization.handlers,
    ...retention.handlers,
    ...passing,
    grading,
  ];
  let worker: Worker | undefined;
  let sweeper: { stop(): void } | undefined;
  let embedding: { stop(): Promise<void> } | undefined;
  return {
    start: () => {
      worker = startWorker({ ...deps, work: stores.work, handlers, intervalMs: LOOK_MS });
      sweeper = startSweeper({ ...stores, wakeUp, logger, intervalMs: SWEEP_MS });
      retention.start();
      embedding = startEmbedding(parts.found, logger);
    },
    /**
     * Wakes the worker because work was requested. Does nothing if this process does not work.
     */
    wake: (): void => worker?.wake(),
    /** Stops the parts that bring work, so that nothing new begins. */
    stopBringing: async () => {
      sweeper?.stop();
      await indexSynchronization.stop();
      await embedding?.stop();
    },
    /** Stops the parts that end what triage has begun. Call this after the queue has drained. */
    stopEnding: async () => {
      await worker?.stop();
      await retention.stop();
    },
  };
}

type AppParts = Pick<
  App,
  | 'config'
  | 'logger'
  | 'clock'
  | 'database'
  | 'stores'
  | 'archive'
  | 'vectorIndex'
  | 'masker'
  | 'tracer'
  | 'metrics'
>;

/** Creates the dependencies of `triageBuild`. `steps` receives the node that finished last for each build. */
async function createTriageDeps(
  parts: AppParts & Opened,
  steps: Map<string, string>,
  checkpointer: Awaited<ReturnType<typeof createPostgresCheckpointer>>,
): Promise<TriageBuildDeps & { readonly codeHost: CodeHost }> {
  const { config, logger, clock, stores, archive, vectorIndex, masker, tracer, metrics, found, channels } =
    parts;
  const passingBuilds = createStoredGreens({
    passingBuilds: stores.passingBuilds,
    greenBuilds: config.triage.greenBuilds,
  });
  const sources = { vectorIndex, knowledge: found, archive, passingBuilds, history: stores.history };
  const [embedder, codeHost] = [await openEmbedder(config, logger), await openCodeHost(config, logger)];
  const asked = { ...sources, embedder, codeHost, webSearch: await openWebSearch(config) };
  const reviewers = createReviewerClient({
    questions: stores.questions,
    notices: stores.notices,
    masker,
    clock,
    waitMs: config.review.questionMs,
  });
  const toolbox = createAppToolbox(
    {
      ...asked,
      reviewers,
      ...(config.triage.shareRepositories ? {} : { scope: createReaderScope(stores.tokens) }),
    },
    { masker, logger, cache: stores.toolCache, concurrency: config.triage.toolConcurrency },
  );
  const [analyst, fallbackAnalyst] = [
    await openAnalyst(config, logger, tracer, metrics),
    await openFallbackAnalyst(),
  ];
  const recorder = await openRecorder(config, { clock, masker, logger, store: stores.recordings });
  const calibrations = createCalibrationReader(stores.calibrations, clock, logger);
  const bound = boundInForce(config, stores.calibrations, clock, logger);
  const judging = {
    toolbox: instrumentToolbox(toolbox, metrics),
    clock,
    analyst,
    fallbackAnalyst,
    questions: stores.questions,
    recorder,
    calibrations,
    bound,
  };
  return {
    ...parts,
    codeHost,
    precedents: { count: stores.grades.precedent, listFixedBefore: stores.grades.listFixedBefore, bound },
    owners: createOwnerFinder(codeHost, logger, { breakers: toolbox.breakers }),
    buildSources: await openBuildSources(config, logger),
    investigation: createInvestigation(config, judging, tracer, checkpointer),
    publishers: channels.publisherNames,
    onConcluded: (build, analysis) => countAnalysis(build, analysis, metrics),
    forget: (triageId) => checkpointer.deleteThread(triageId),
    budgetTokens: resolveBudgetTokens(config),
    greenBuilds: config.triage.greenBuilds,
    auditEvery: config.review.auditEvery,
    onStep: (buildId: string, step: Step) => {
      const { node, round, milliseconds } = step;
      steps.set(buildId, node);
      recordNode(tracer, step);
      // The step is only for live pages, so the run does not wait for this write.
      stores.runSteps
        .add(buildId, step)
        .catch((error: unknown) =>
          logger.debug({ buildId, error }, 'a step could not be stored for live pages'),
        );
      logger.debug({ buildId, node, round, milliseconds }, 'node finished');
    },
  };
}
