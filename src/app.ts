import { compileTriageGraph } from '../graphs/triage/graph.ts';
import type { TriageLimits } from '../graphs/triage/state.ts';
import type { Config } from './config/schema.ts';
import type { Step } from './domain/analysis.ts';
import type { Build, SourceText } from './domain/build.ts';
import { createMasker, type Masker } from './log/mask.ts';
import type { Analyst } from './ports/analyst.ts';
import type { BuildArchive } from './ports/build-archive.ts';
import type { BuildSource } from './ports/build-source.ts';
import { type Clock, systemClock } from './ports/clock.ts';
import type { CodeHost } from './ports/code-host.ts';
import type { Database } from './ports/database.ts';
import type { Embedder } from './ports/embedder.ts';
import type { JobQueue } from './ports/job-queue.ts';
import type { Logger } from './ports/logger.ts';
import type { HistoryStore, Stores } from './ports/stores.ts';
import type { Toolbox } from './ports/toolbox.ts';
import type { VectorIndex } from './ports/vector-index.ts';
import type { WebSearch } from './ports/web-search.ts';
import { createStores } from './store/stores.ts';
import { createTools } from './tools/all-tools.ts';
import { loadKnowledge, readKnowledge } from './tools/knowledge-base.ts';
import { createToolbox } from './tools/toolbox.ts';
import type { InvestigateDeps } from './triage/investigate.ts';
import { startSweeper } from './triage/sweeper.ts';
import { triageBuild } from './triage/triage-build.ts';
import { type TriagedSources, triageSources } from './triage/triage-sources.ts';
import { startWorker } from './triage/worker.ts';

/** How often a correction may send an answer back (DESIGN: verify). */
const MAX_CORRECTIONS = 2;
const SWEEP_MS = 5_000;

/** Everything a served installation is made of. Composed here and nowhere else. */
export interface App {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly database: Database;
  readonly stores: Stores;
  readonly archive: BuildArchive;
  readonly jobQueue: JobQueue;
  readonly vectorIndex: VectorIndex;
  readonly masker: Masker;
  /** Starts taking triage jobs, and ringing again for those that are owed. */
  work(): Promise<void>;
  /** Brings the knowledge base up to date with its folder. */
  loadKnowledge(): Promise<{ readonly changed: number; readonly unchanged: number; readonly removed: number }>;
  /** The node that finished last in the triage of a build now running here; null where none runs. */
  currentStep(buildId: string): Promise<string | null>;
  /** What each backend says of itself; `ok` where all that is needed to accept builds works. */
  readiness(): Promise<{ readonly ok: boolean; readonly backends: Readonly<Record<string, string>> }>;
  /** Stops taking jobs, lets running ones end within the limit, closes every store. */
  close(options?: { readonly drainMs: number }): Promise<void>;
}

/** Structured logs as JSON lines on standard error. */
export async function createLogger(level: string): Promise<Logger> {
  return (await import('./adapters/logger/pino.ts')).createPinoLogger(level);
}

export async function createApp(config: Config, logger: Logger, clock: Clock = systemClock): Promise<App> {
  const opened = await openDatabase(config);
  const { database } = opened;
  await database.migrate();
  const stores = createStores(database, clock);
  const archive = await openArchive(config, database);
  const vectorIndex = await openVectorIndex(config, database, await openEmbedder(config));
  const masker = createMasker();
  const sources: ToolSources = { vectorIndex, archive, history: stores.history };
  const toolbox = createAppToolbox(sources, await openCodeHost(config.codeHost), await openWebSearch(config), masker, logger);
  const investigation = investigationOf(
    config,
    { toolbox, clock, analyst: await openAnalyst(config, logger) },
    await opened.checkpointer(),
  );
  const jobQueue = await opened.jobQueue(logger);
  const { createLogPublisher } = await import('./adapters/publisher/log.ts');
  const buildSources = await openBuildSources(config, logger);
  const steps = new Map<string, string>();
  const deps = {
    database,
    stores,
    archive,
    masker,
    buildSources,
    investigation,
    clock,
    logger,
    publisher: createLogPublisher(logger),
    budgetTokens: config.triage.budgetTokens,
    onStep: (buildId: string, { node, round, milliseconds }: Step) => {
      steps.set(buildId, node);
      logger.debug({ buildId, node, round, milliseconds }, 'node finished');
    },
  };
  let sweeper: { stop(): void } | undefined;
  const app: App = {
    config,
    logger,
    clock,
    database,
    stores,
    archive,
    jobQueue,
    vectorIndex,
    masker,
    loadKnowledge: async () => loadKnowledge(vectorIndex, await readKnowledge(config.knowledge.folder)),
    work: async () => {
      if (database.exclusive) await stores.triages.reclaim();
      await startWorker({
        jobQueue,
        triages: stores.triages,
        logger,
        leaseMs: config.triage.leaseMs,
        concurrency: config.jobQueue.concurrency,
        triage: (buildId, signal, lastTry) => triageBuild(buildId, deps, signal, lastTry).finally(() => steps.delete(buildId)),
      });
      sweeper = startSweeper({ jobQueue, triages: stores.triages, logger, intervalMs: SWEEP_MS });
    },
    currentStep: async (buildId) => steps.get(buildId) ?? null,
    readiness: () => readinessOf(app, config),
    close: async ({ drainMs } = { drainMs: 20_000 }) => {
      sweeper?.stop();
      await jobQueue.stop({ timeoutMs: drainMs });
      await database.close();
    },
  };
  return app;
}

/** The same road on memory alone: no database, no server, nothing that outlives the process. */
export interface TerminalApp {
  triage(
    build: Build,
    sources: readonly SourceText[],
    signal: AbortSignal,
    options?: { readonly greenText?: string; readonly maxGroups?: number; readonly onStep?: InvestigateDeps['onStep'] },
  ): Promise<TriagedSources>;
}

/** `repositoryFolder` is a local clone that the code tools may read, for builds of any repository. */
export async function createTerminalApp(
  config: Pick<Config, 'analyst' | 'triage' | 'knowledge' | 'codeHost'>,
  logger: Logger,
  clock: Clock = systemClock,
): Promise<TerminalApp> {
  const { createHashingEmbedder } = await import('./adapters/embedder/hashing.ts');
  const { createMemoryIndex } = await import('./adapters/vector-index/memory.ts');
  const { createMemoryArchive } = await import('./adapters/build-archive/memory.ts');
  const { createEmptyHistory } = await import('./adapters/history/empty.ts');
  const { createNoWebSearch } = await import('./adapters/web-search/none.ts');
  const vectorIndex = createMemoryIndex(createHashingEmbedder());
  await loadKnowledge(vectorIndex, await readKnowledge(config.knowledge.folder));
  const codeHost = await openCodeHost(config.codeHost);
  const analyst = await openAnalyst(config, logger);
  const masker = createMasker();
  const history = createEmptyHistory();
  return {
    triage: (build, sources, signal, { onStep, ...options } = {}) => {
      const archive = createMemoryArchive();
      const toolbox = createAppToolbox({ vectorIndex, archive, history }, codeHost, createNoWebSearch(), masker, logger);
      const investigation = { ...investigationOf(config, { toolbox, clock, analyst }), onStep };
      return triageSources(build, sources, { archive, masker, investigation, budgetTokens: config.triage.budgetTokens }, signal, options);
    },
  };
}

interface ToolSources {
  readonly vectorIndex: VectorIndex;
  readonly archive: BuildArchive;
  readonly history: HistoryStore;
}

function createAppToolbox(sources: ToolSources, codeHost: CodeHost, webSearch: WebSearch, masker: Masker, logger: Logger): Toolbox {
  const mask = async (text: string) => (await masker.mask(text)).text;
  return createToolbox(createTools({ ...sources, codeHost, webSearch }), { mask, logger });
}

function investigationOf(
  config: Pick<Config, 'triage'>,
  parts: Pick<InvestigateDeps, 'analyst' | 'toolbox' | 'clock'>,
  checkpointer?: Parameters<typeof compileTriageGraph>[0],
): InvestigateDeps {
  const { maxIterations, thresholds, timeLimitMs } = config.triage;
  const limits: TriageLimits = { maxIterations, maxCorrections: MAX_CORRECTIONS, thresholds };
  return { ...parts, graph: compileTriageGraph(checkpointer), limits, timeLimitMs, durable: checkpointer !== undefined };
}

/** The database with what can only be made from its own connection: the queue on it and the checkpoints in it. */
async function openDatabase(config: Config) {
  const { createPostgresCheckpointer } = await import('./adapters/checkpointer/postgres.ts');
  const { createPgBossQueue } = await import('./adapters/job-queue/pg-boss.ts');
  switch (config.database.driver) {
    case 'pglite': {
      const { openPglite } = await import('./adapters/database/pglite.ts');
      const database = await openPglite({ dataDir: config.database.dataDir });
      return {
        database,
        jobQueue: (logger: Logger) => createPgBossQueue({ db: database, logger }),
        checkpointer: () => createPostgresCheckpointer(database),
      };
    }
    case 'postgres': {
      const { openPostgres } = await import('./adapters/database/postgres.ts');
      const database = await openPostgres({ url: config.database.url, poolSize: config.database.poolSize });
      return {
        database,
        jobQueue: (logger: Logger) => createPgBossQueue({ db: database, logger }),
        checkpointer: () => createPostgresCheckpointer(database),
      };
    }
  }
}

async function openArchive(config: Config, database: Database): Promise<BuildArchive> {
  switch (config.buildArchive.driver) {
    case 'postgres':
      return (await import('./adapters/build-archive/postgres.ts')).createPostgresArchive(database);
  }
}

async function openEmbedder(config: Config): Promise<Embedder> {
  switch (config.embedder.driver) {
    case 'hashing':
      return (await import('./adapters/embedder/hashing.ts')).createHashingEmbedder();
  }
}

async function openVectorIndex(config: Config, database: Database, embedder: Embedder): Promise<VectorIndex> {
  switch (config.vectorIndex.driver) {
    case 'pgvector':
      return (await import('./adapters/vector-index/pgvector.ts')).createPgvectorIndex(database, embedder);
  }
}

async function openCodeHost(config: Config['codeHost']): Promise<CodeHost> {
  switch (config.driver) {
    case 'local-git':
      return (await import('./adapters/code-host/local-git.ts')).createLocalGitHost({ clones: config.clones });
    case 'none':
      return (await import('./adapters/code-host/none.ts')).createNoCodeHost();
  }
}

async function openWebSearch(config: Config): Promise<WebSearch> {
  switch (config.webSearch.driver) {
    case 'none':
      return (await import('./adapters/web-search/none.ts')).createNoWebSearch();
  }
}

async function openAnalyst(config: Pick<Config, 'analyst'>, logger: Logger): Promise<Analyst> {
  const { createRulesAnalyst } = await import('./adapters/analyst/rules/rules-analyst.ts');
  const rules = createRulesAnalyst();
  if (config.analyst.driver === 'rules') return rules;
  const { createOpenAiChatModel } = await import('./adapters/chat-model/openai.ts');
  const { createLlmAnalyst } = await import('./adapters/analyst/llm/llm-analyst.ts');
  const { withFallback } = await import('./adapters/analyst/with-fallback.ts');
  return withFallback(createLlmAnalyst({ model: createOpenAiChatModel({ ...config.analyst.llm, logger }) }), rules, logger);
}

/** One cheap question to the configured analyst; says who answered. Throws what the model throws. */
export async function checkAnalyst(config: Pick<Config, 'analyst'>, signal: AbortSignal): Promise<string> {
  if (config.analyst.driver === 'rules') return 'rules: no model is needed';
  const { createOpenAiChatModel } = await import('./adapters/chat-model/openai.ts');
  const model = createOpenAiChatModel({ ...config.analyst.llm, maxRetries: 0 });
  const reply = await model.ask(
    {
      system: 'Answer in JSON.',
      user: 'Reply with {"ok": true}.',
      name: 'ping',
      schema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'], additionalProperties: false },
      parse: (value) => value,
    },
    signal,
  );
  return `llm: ${reply.model} answered`;
}

async function openBuildSources(config: Config, logger: Logger): Promise<Partial<Record<Build['provider'], BuildSource>>> {
  const { createGithubBuildSource } = await import('./adapters/build-source/github.ts');
  const { createJenkinsBuildSource } = await import('./adapters/build-source/jenkins.ts');
  const { github, jenkins, timeoutMs } = config.buildSource;
  const common = { timeoutMs, maxLogBytes: config.http.maxLogBytes, logger };
  return {
    github: createGithubBuildSource({ ...github, ...common }),
    jenkins: createJenkinsBuildSource({ ...jenkins, ...common }),
  };
}

async function readinessOf(app: App, config: Config): Promise<{ ok: boolean; backends: Record<string, string> }> {
  const backends: Record<string, string> = {};
  const ask = async (name: string, question: () => Promise<string>): Promise<boolean> => {
    try {
      backends[name] = await question();
      return true;
    } catch (error) {
      app.logger.warn({ backend: name, error }, 'a backend is not ready');
      backends[name] = error instanceof Error ? error.message : String(error);
      return false;
    }
  };
  const database = await ask(`database (${app.database.driver})`, async () => {
    await app.database.query('select 1');
    return 'ok';
  });
  const queue = await ask(`job queue (${app.jobQueue.driver})`, async () => `ok, ${await app.jobQueue.depth()} waiting or running`);
  await ask(`knowledge (${app.vectorIndex.driver})`, async () => `ok, ${await app.vectorIndex.count('knowledge')} entries`);
  await ask('analyst', async () => config.analyst.driver);
  return { ok: database && queue, backends };
}
