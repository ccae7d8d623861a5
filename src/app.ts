import { compileTriageGraph } from '../graphs/triage/graph.ts';
import { type IndexDoors, openIndexKeeping } from './app/index-keeping.ts';
import { limitsOf } from './app/limits-of.ts';
import { countAnalysis, measuredToolbox } from './app/measured.ts';
import {
  openAnalyst,
  openArchive,
  openBuildSources,
  openCodeHost,
  openDatabase,
  openEmbedder,
  openSpareAnalyst,
  openVectorIndex,
  openWebSearch,
  openWordEmbedder,
} from './app/open-adapters.ts';
import { openAsk, openAskAtHand } from './app/open-ask.ts';
import { type OpenedKnowledge, openKnowledge, startEmbedding } from './app/open-knowledge.ts';
import { openObserved, openReadiness } from './app/open-metrics.ts';
import { openPublishing, type Publishing } from './app/open-publishers.ts';
import { openRetention, type Retention } from './app/open-retention.ts';
import { openTracer } from './app/open-tracer.ts';
import type { Readiness } from './app/readiness.ts';
import { tracedGraph, tracedToolbox } from './app/traced.ts';
import { recordNode, watchTriage } from './app/watch-triage.ts';
import type { Ask } from './ask/ask.ts';
import { maskingOf } from './config/masking.ts';
import type { Config } from './config/schema.ts';
import type { Step } from './domain/analysis.ts';
import type { Build, SourceText } from './domain/build.ts';
import { greenTemplates } from './log/green/green-diff.ts';
import { createMasker, type Masker } from './log/mask/mask.ts';
import type { LogInPieces } from './log/read-sources.ts';
import type { BuildArchive } from './ports/build-archive.ts';
import { type Clock, systemClock } from './ports/clock.ts';
import type { Database } from './ports/database.ts';
import type { Failpoint } from './ports/failpoint.ts';
import type { JobQueue } from './ports/job-queue.ts';
import type { KnowledgeDesk } from './ports/knowledge-desk.ts';
import type { Logger } from './ports/logger.ts';
import type { Metrics } from './ports/metrics.ts';
import type { Stores } from './ports/stores.ts';
import type { Toolbox } from './ports/toolbox.ts';
import type { Tracer } from './ports/tracer.ts';
import type { VectorIndex } from './ports/vector-index.ts';
import { createJobTurns } from './store/job-turns.ts';
import { createTools, type ToolSources } from './tools/all-tools.ts';
import { loadKnowledge, readKnowledge } from './tools/knowledge-base.ts';
import { createMemoryToolCache } from './tools/memory-tool-cache.ts';
import { createToolbox, type ToolboxOptions } from './tools/toolbox.ts';
import { fairQueue } from './triage/fair-queue.ts';
import { giveUp } from './triage/give-up.ts';
import { startGreenKeeper } from './triage/green-keeper.ts';
import { greenAtHand, storedGreens } from './triage/green-logs.ts';
import type { InvestigateDeps } from './triage/investigate.ts';
import { createReviewerDesk } from './triage/reviewer-desk.ts';
import { startSweeper } from './triage/sweeper.ts';
import { type TriageBuildDeps, triageBuild } from './triage/triage-build.ts';
import { type TriagedSources, triageSources } from './triage/triage-sources.ts';
import { startWorker } from './triage/worker.ts';

const SWEEP_MS = 5_000;
/** How long spans that were not sent yet may hold up an end, in milliseconds. */
const FLUSH_MS = 2_000;
/** Green builds are nobody's hurry, but the next failed build is compared with them. */
const GREEN_MS = 2_000;

/** Everything a served installation is made of. Composed here and nowhere else. */
export interface App extends IndexDoors {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly database: Database;
  readonly stores: Stores;
  readonly archive: BuildArchive;
  readonly jobQueue: JobQueue;
  readonly vectorIndex: VectorIndex;
  /** Documents of the team itself. */
  readonly knowledge: KnowledgeDesk;
  readonly masker: Masker;
  /** Follow-up questions about stored analyses. */
  readonly ask: Ask;
  /** Starts taking triage jobs, and ringing again for those that are owed. */
  work(): Promise<void>;
  /** What deletes: a repository on demand, and what is too old. */
  readonly retention: Retention;
  /** Brings the knowledge base up to date with its folder. */
  loadKnowledge(): Promise<{ readonly changed: number; readonly unchanged: number; readonly removed: number }>;
  /** The node that finished last in the triage of a build now running here; null where none runs. */
  currentStep(buildId: string): Promise<string | null>;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  /** What each backend says of itself; `ok` where all that is needed to accept builds works. Never throws, and is cheap to ask often. */
  readiness(): Promise<Readiness>;
  /** Stops taking jobs, lets running ones end within the limit, closes every store. */
  close(options?: { readonly drainMs: number }): Promise<void>;
}

/** Structured logs as JSON lines on standard error. `known` are secrets that stand in none of them. */
export async function createLogger(level: string, known: readonly string[] = []): Promise<Logger> {
  return (await import('./adapters/logger/pino.ts')).createPinoLogger(level, { known });
}

/** Opens everything that the configuration names. What was opened is closed again where something further fails. */
export async function createApp(config: Config, logger: Logger, clock: Clock = systemClock, failpoint?: Failpoint): Promise<App> {
  const opened = await openDatabase(config);
  try {
    return await composeApp(config, logger, clock, opened, failpoint);
  } catch (error) {
    await opened.database.close();
    throw error;
  }
}

type OpenedDatabase = Awaited<ReturnType<typeof openDatabase>>;

async function composeApp(config: Config, logger: Logger, clock: Clock, opened: OpenedDatabase, failpoint?: Failpoint): Promise<App> {
  const { database } = opened;
  await database.migrate();
  const { tracer, metrics, stores } = await openObserved(config, database, clock, logger);
  const archive = await openArchive(config, database, logger);
  const vectorIndex = await openVectorIndex(config, database, await openWordEmbedder(), logger);
  const masker = createMasker(maskingOf(config));
  const opening = await openKnowledge({ config, database, masker, clock, logger });
  const indexKeeping = openIndexKeeping(stores, vectorIndex, logger);
  const parts = { config, logger, clock, database, stores, archive, vectorIndex, knowledge: opening.desk, masker, tracer, metrics };
  const steps = new Map<string, string>();
  const checkpointer = await opened.checkpointer();
  const dying = failpoint === undefined ? {} : { failpoint };
  const publishing = await openPublishing(config, { ...parts, ...dying });
  const deps = { ...(await triageDepsOf({ ...parts, found: opening, publishing }, steps, checkpointer)), ...dying };
  // Last: it runs timers of its own, which nothing may leave behind.
  const turns = createJobTurns(database);
  const jobQueue = fairQueue(await opened.jobQueue(logger), { turns, logger });
  const readiness = openReadiness({ ...parts, jobQueue, toolbox: deps.investigation.toolbox });
  const retention = openRetention({ ...parts, ...indexKeeping.doors, forgetThreads: () => forgetConcluded(database, logger) });
  let sweeper: { stop(): void } | undefined;
  let greenKeeper: { stop(): Promise<void> } | undefined;
  let embedding: { stop(): Promise<void> } | undefined;
  const app: App = {
    ...parts,
    ask: openAsk({ ...parts, ...deps.investigation }),
    jobQueue,
    ...indexKeeping.doors,
    retention: retention.desk,
    loadKnowledge: async () => loadKnowledge(vectorIndex, await readKnowledge(config.knowledge.folder)),
    work: async () => {
      await beginAnew(database, stores, logger);
      await startWorker({
        jobQueue,
        triages: stores.triages,
        logger,
        leaseMs: config.triage.leaseMs,
        concurrency: config.jobQueue.concurrency,
        maxCrashes: config.triage.maxCrashes,
        ...dying,
        triage: (buildId, run) => watchTriage(run.job, parts, () => triageBuild(buildId, deps, run)).finally(() => steps.delete(buildId)),
        giveUp: (buildId, error, run) => giveUp(buildId, error, deps, run),
      });
      publishing.start();
      sweeper = startSweeper({ jobQueue, turns, questions: stores.questions, logger, intervalMs: SWEEP_MS });
      indexKeeping.start();
      retention.start();
      embedding = startEmbedding(opening, logger);
      if (deps.greenBuilds > 0) greenKeeper = startGreenKeeper({ ...deps, intervalMs: GREEN_MS });
    },
    currentStep: async (buildId) => steps.get(buildId) ?? null,
    readiness,
    close: async ({ drainMs } = { drainMs: 20_000 }) => {
      sweeper?.stop();
      await indexKeeping.stop();
      await embedding?.stop();
      await greenKeeper?.stop();
      await jobQueue.stop({ timeoutMs: drainMs });
      await publishing.stop();
      await tracer.flush(FLUSH_MS);
      await retention.stop();
      await database.close();
    },
  };
  return app;
}

/** What a process that died has left is given back, or forgotten. */
async function beginAnew(database: Database, stores: Stores, logger: Logger): Promise<void> {
  if (database.exclusive)
    await Promise.all([stores.triages.reclaim(), stores.greens.reclaim(), stores.acts.reclaim(), stores.vectorDebts.reclaim()]);
  await forgetConcluded(database, logger);
  await stores.toolCache.sweep().catch((error: unknown) => logger.warn({ error }, 'the cache of tools could not be swept'));
}

/** Failing this wastes space only, so the start goes on. */
async function forgetConcluded(database: Database, logger: Logger): Promise<void> {
  const { sweepCheckpoints } = await import('./adapters/checkpointer/postgres.ts');
  try {
    const threads = await sweepCheckpoints(database);
    if (threads > 0) logger.info({ threads }, 'checkpoints of concluded triages swept');
  } catch (error) {
    logger.warn({ error }, 'checkpoints of concluded triages could not be swept');
  }
}

type AppParts = Pick<
  App,
  'config' | 'logger' | 'clock' | 'database' | 'stores' | 'archive' | 'vectorIndex' | 'masker' | 'tracer' | 'metrics'
>;

/** What steps 4 to 8 of the road need; `steps` is told which node of which build finished last. */
async function triageDepsOf(
  {
    config,
    logger,
    clock,
    database,
    stores,
    archive,
    vectorIndex,
    masker,
    tracer,
    metrics,
    found,
    publishing,
  }: AppParts & { readonly found: OpenedKnowledge; readonly publishing: Publishing },
  steps: Map<string, string>,
  checkpointer: Awaited<ReturnType<OpenedDatabase['checkpointer']>>,
): Promise<TriageBuildDeps> {
  const greens = storedGreens({ greens: stores.greens, greenBuilds: config.triage.greenBuilds });
  const sources = { vectorIndex, knowledge: found, archive, greens, history: stores.history };
  const [embedder, codeHost] = [await openEmbedder(config, logger), await openCodeHost(config, logger)];
  const asked = { ...sources, embedder, codeHost, webSearch: await openWebSearch(config) };
  const reviewers = createReviewerDesk({ questions: stores.questions, masker, clock, waitMs: config.review.questionMs });
  const toolbox = createAppToolbox(
    { ...asked, reviewers },
    { masker, logger, cache: stores.toolCache, concurrency: config.triage.toolConcurrency },
  );
  const [analyst, spare] = [await openAnalyst(config, logger, tracer, metrics), await openSpareAnalyst()];
  const judging = { toolbox: measuredToolbox(toolbox, metrics), clock, analyst, spare, questions: stores.questions };
  return {
    database,
    stores,
    archive,
    masker,
    clock,
    logger,
    buildSources: await openBuildSources(config, logger),
    investigation: investigationOf(config, judging, tracer, checkpointer),
    publishers: publishing.drivers,
    wakePublishers: publishing.wake,
    onConcluded: (build, analysis) => countAnalysis(build, analysis, metrics),
    forget: (triageId) => checkpointer.deleteThread(triageId),
    budgetTokens: config.triage.budgetTokens,
    greenBuilds: config.triage.greenBuilds,
    onStep: (buildId: string, step: Step) => {
      const { node, round, milliseconds } = step;
      steps.set(buildId, node);
      recordNode(tracer, step);
      logger.debug({ buildId, node, round, milliseconds }, 'node finished');
    },
  };
}

export interface TerminalOptions {
  readonly greenText?: string;
  readonly maxGroups?: number;
  /** Places hidden in the logs in pieces, which come masked. */
  readonly maskedSecrets?: number;
  readonly onStep?: InvestigateDeps['onStep'];
}

/** The same road on memory alone: no database, no server, nothing that outlives the process. */
export interface TerminalApp {
  triage(
    build: Build,
    sources: readonly (SourceText | LogInPieces)[],
    signal: AbortSignal,
    options?: TerminalOptions,
  ): Promise<
    TriagedSources & { /** Follow-up questions about the answers; threads end with the process. */ readonly ask: () => Promise<Ask> }
  >;
  /** Sends what is to be told to whoever traces; a moment at most. */
  flush(): Promise<void>;
}

/** `config.codeHost` names the local clones that the code tools may read. */
export async function createTerminalApp(
  config: Pick<Config, 'analyst' | 'triage' | 'knowledge' | 'codeHost'> & Partial<Config>,
  logger: Logger,
  clock: Clock = systemClock,
): Promise<TerminalApp> {
  const { createHashingEmbedder } = await import('./adapters/embedder/hashing.ts');
  const { createMemoryIndex } = await import('./adapters/vector-index/memory.ts');
  const { createMemoryArchive } = await import('./adapters/build-archive/memory.ts');
  const { createEmptyHistory } = await import('./adapters/history/empty.ts');
  const vectorIndex = createMemoryIndex(createHashingEmbedder());
  await loadKnowledge(vectorIndex, await readKnowledge(config.knowledge.folder));
  const codeHost = await openCodeHost(config, logger);
  const tracer = await openTracer(config, logger);
  const [analyst, spare] = [await openAnalyst(config, logger, tracer), await openSpareAnalyst()];
  const masker = createMasker(maskingOf(config));
  const history = createEmptyHistory();
  const webSearch = await openWebSearch(config);
  const cache = createMemoryToolCache();
  return {
    flush: () => tracer.flush(FLUSH_MS),
    triage: async (build, sources, signal, { onStep, greenText, ...options } = {}) => {
      const archive = createMemoryArchive();
      const green = greenText === undefined ? null : greenTemplates(greenText);
      const asked = { vectorIndex, archive, history, greens: greenAtHand(green), codeHost, webSearch };
      const toolbox = createAppToolbox(asked, { masker, logger, cache, concurrency: config.triage.toolConcurrency });
      const investigation = { ...investigationOf(config, { toolbox, clock, analyst, spare }, tracer), onStep };
      const deps = { archive, masker, investigation, budgetTokens: config.triage.budgetTokens };
      const triaged = await triageSources(build, sources, deps, signal, green === null ? options : { ...options, green });
      return { ...triaged, ask: () => openAskAtHand(build, triaged, { ...investigation, masker }) };
    },
  };
}

function createAppToolbox(sources: ToolSources, { masker, ...options }: Omit<ToolboxOptions, 'mask'> & { masker: Masker }): Toolbox {
  const mask = async (text: string) => (await masker.mask(text)).text;
  return createToolbox(createTools({ ...sources, mask }), { ...options, mask });
}

function investigationOf(
  config: Pick<Config, 'triage'>,
  parts: Pick<InvestigateDeps, 'analyst' | 'spare' | 'toolbox' | 'clock' | 'questions'>,
  tracer: Tracer,
  checkpointer?: Parameters<typeof compileTriageGraph>[0],
): InvestigateDeps {
  const graph = tracedGraph(compileTriageGraph(checkpointer), tracer);
  const toolbox = tracedToolbox(parts.toolbox, tracer);
  return {
    ...parts,
    toolbox,
    graph,
    limits: limitsOf(config),
    timeLimitMs: config.triage.timeLimitMs,
    durable: checkpointer !== undefined,
  };
}
