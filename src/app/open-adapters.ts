import { COMMON, type Config } from '../config/schema.ts';
import type { Build } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import type { Analyst } from '../ports/analyst.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { BuildSource } from '../ports/build-source.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { Database } from '../ports/database.ts';
import { type Logger, type Metrics, silentMetrics, silentTracer, type Tracer } from '../ports/telemetry.ts';
import type { WebSearch } from '../ports/toolbox.ts';
import type { Embedder, SemanticIndex, VectorIndex } from '../ports/vector-index.ts';
import type { WakeUp } from '../ports/work.ts';
import { createProviders } from '../providers/registry.ts';
import { wrapListenedChatModel } from '../service/triage/recording/shown-texts.ts';
import { findLongestLogsDays } from '../service/triage/retention.ts';
import type { WorkStore } from '../stores/work.ts';
import { createResilience, type ResilienceOptions } from '../tools/resilience.ts';
import { measureChatModel, traceChatModel } from './instrumentation.ts';
import { NO_MODEL, requirePrices, toConnectionOptions, toSmallModel } from './open-models.ts';

/** Opens the database, and the checkpoints, which use its connections. */
export async function openDatabase(config: Config) {
  const { createPostgresCheckpointer } = await import('../stores/checkpointer.ts');
  const { runInTurn } = await import('../stores/database/pool-database.ts');
  const database = await connect(config.database);
  return {
    database,
    checkpointer: () => runInTurn(database, () => createPostgresCheckpointer(database)),
  };
}

async function connect(config: Config['database']) {
  switch (config.driver) {
    case 'pglite':
      return (await import('../stores/database/pglite.ts')).openPglite({ dataDir: config.dataDir });
    case 'postgres':
      return (await import('../stores/database/postgres.ts')).openPostgres(config);
  }
}

interface WakeUpParts {
  readonly database: Database;
  readonly work: WorkStore;
  readonly logger: Logger;
}

/** Opens the wake-up of workers for triages: a queue in Redis, or the database alone. */
export async function openWakeUp(
  config: Config['jobQueue'],
  { database, work, logger }: WakeUpParts,
): Promise<WakeUp> {
  switch (config.driver) {
    case 'database':
      return (await import('../work/drivers/local.ts')).createLocalWakeUp({ database, work });
    case 'bullmq': {
      const { createBullmqWakeUp } = await import('../work/drivers/bullmq.ts');
      const { url, prefix, concurrency } = config;
      return await createBullmqWakeUp({ url, prefix, concurrency, logger, rank: work.rank });
    }
  }
}

/** Opens the archive. Texts that MongoDB does not accept are stored in the database. */
export async function openArchive(
  config: Config,
  database: Database,
  work: WorkStore,
  logger: Logger,
): Promise<BuildArchive> {
  switch (config.buildArchive.driver) {
    case 'postgres':
      return (await import('../stores/archive/postgres.ts')).createPostgresArchive(database);
    case 'mongodb': {
      const { createMongodbArchive } = await import('../stores/archive/mongodb.ts');
      const { createArchiveWithFallback } = await import('../stores/archive/with-fallback.ts');
      const { url, database: name } = config.buildArchive;
      const mongodb = createMongodbArchive({
        url,
        database: name,
        keepDays: findLongestLogsDays(config.retention),
      });
      return createArchiveWithFallback({ mongodb, database, work, logger });
    }
  }
}

/**
 * Opens the embedder that compares words and needs no model. It always measures the similarity of past
 * failures, whatever is configured.
 */
export async function openWordEmbedder(): Promise<Embedder> {
  return (await import('../models/embedder/hashing.ts')).createHashingEmbedder();
}

/**
 * Opens the configured embedder, or the word embedder if the model is unavailable, so that search always
 * works.
 */
export async function openEmbedder(
  config: Pick<Config, 'embedder' | 'analyst'>,
  logger: Logger,
): Promise<Embedder> {
  return (await openModelEmbedder(config, logger)) ?? (await openWordEmbedder());
}

/**
 * Opens the configured model embedder. Returns null if no model is configured, or if the configured model is
 * not installed, which is logged.
 */
export async function openModelEmbedder(
  config: Pick<Config, 'embedder' | 'analyst'>,
  logger: Logger,
): Promise<Embedder | null> {
  if (config.embedder.driver === 'hashing') return null;
  try {
    return await openNamedEmbedder(config, logger);
  } catch (error) {
    if (config.embedder.driver !== 'local') throw error;
    logger.warn({ error }, 'the local embedding model is not available; texts are found by words only');
    return null;
  }
}

/**
 * Opens the configured embedder, without a fallback. A key for the analyst's server is never sent to another
 * server.
 */
export async function openNamedEmbedder(
  config: Pick<Config, 'embedder' | 'analyst'>,
  logger: Logger,
): Promise<Embedder> {
  const { driver, model, openai, local } = config.embedder;
  if (driver === 'hashing') return openWordEmbedder();
  if (driver === 'local') {
    if (model === null) throw new TriageError('invalid-config', 'FAULTLINE_EMBEDDER_MODEL is not set.');
    return (await import('../models/embedder/local.ts')).openLocalEmbedder({
      model,
      download: local.download,
    });
  }
  const { createOpenAiEmbedder } = await import('../models/embedder/openai.ts');
  const { llm } = config.analyst;
  const server = openai.baseUrl === null ? { baseUrl: llm.baseUrl, apiKey: openai.apiKey ?? llm.apiKey } : {};
  return createOpenAiEmbedder({ ...openai, ...server, model: model ?? 'text-embedding-3-small', logger });
}

export async function openVectorIndex(
  config: Config,
  database: Database,
  embedder: Embedder,
  logger?: Logger,
): Promise<VectorIndex> {
  const { vectorIndex } = config;
  switch (vectorIndex.driver) {
    case 'pgvector':
      return (await import('../stores/vectors/pgvector.ts')).createPgvectorIndex(database, embedder);
    case 'pinecone':
      return (await import('../stores/vectors/pinecone.ts')).createPineconeIndex(
        { ...vectorIndex, ...(logger && { logger }) },
        embedder,
      );
  }
}

/**
 * Opens the index of an embedding model, next to the word index. Removing the model's vectors leaves the word
 * vectors alone.
 */
export async function openModelIndex(
  config: Config,
  database: Database,
  embedder: Embedder,
  logger: Logger,
): Promise<SemanticIndex> {
  const { vectorIndex } = config;
  const kept = [(await openWordEmbedder()).name];
  switch (vectorIndex.driver) {
    case 'pgvector':
      return (await import('../stores/vectors/pgvector.ts')).createSemanticPgvectorIndex(
        database,
        embedder,
        kept,
      );
    case 'pinecone':
      return (await import('../stores/vectors/pinecone.ts')).createSemanticPineconeIndex(
        { ...vectorIndex, logger },
        embedder,
        kept,
      );
  }
}

/**
 * Checks the index without opening anything. Returns a sentence about it, or throws the error that makes it
 * unusable.
 */
export async function checkVectorIndex(
  { vectorIndex }: Pick<Config, 'vectorIndex'>,
  signal?: AbortSignal,
): Promise<string> {
  if (vectorIndex.driver === 'pgvector') return 'in the database';
  const { checkPinecone } = await import('../stores/vectors/pinecone.ts');
  return checkPinecone(vectorIndex, await openWordEmbedder(), signal);
}

/** Opens the local clones: `owner/name` → folder. */
export async function openClones(clones: Readonly<Record<string, string>>): Promise<CodeHost> {
  return (await import('../providers/git/clone.ts')).createLocalGitHost({ clones });
}

export async function openCodeHost(config: CodeHostConfig, logger: Logger): Promise<CodeHost> {
  const { driver, clones } = config.codeHost;
  if (driver === 'local-git') return openClones(clones);
  const { createCombinedHost, createNoCodeHost } = await import('../providers/combined-host.ts');
  if (driver === 'none') return createNoCodeHost();
  const { timeoutMs } = config.buildSource ?? COMMON.buildSource;
  const asked = createProviders(config.providers ?? COMMON.providers).filter(({ name, code }) =>
    driver === 'auto' ? code?.configured === true : driver === name,
  );
  const remotes = await Promise.all(
    asked.flatMap(({ code }) => (code === null ? [] : [code.open({ logger, timeoutMs })])),
  );
  const local =
    driver === 'auto' && (remotes.length === 0 || Object.keys(clones).length > 0)
      ? [await openClones(clones)]
      : [];
  return [...local, ...remotes].reduceRight((others, first) => createCombinedHost(first, others));
}

type CodeHostConfig = Pick<Config, 'codeHost'> & Partial<Pick<Config, 'buildSource' | 'providers'>>;

export async function openWebSearch(config: Partial<Pick<Config, 'webSearch'>>): Promise<WebSearch> {
  const { driver, baseUrl, apiKey, ...limits } = config.webSearch ?? COMMON.webSearch;
  switch (driver) {
    case 'searxng':
      if (baseUrl === null) throw new TriageError('invalid-config', 'FAULTLINE_WEB_SEARCH_URL is not set.');
      return (await import('../adapters/web-search/services.ts')).createSearxngSearch({
        ...limits,
        baseUrl,
        apiKey,
      });
    case 'brave':
      return (await import('../adapters/web-search/services.ts')).createBraveSearch({
        ...limits,
        baseUrl,
        apiKey: requireSetting(apiKey),
      });
    case 'tavily':
      return (await import('../adapters/web-search/services.ts')).createTavilySearch({
        ...limits,
        baseUrl,
        apiKey: requireSetting(apiKey),
      });
    case 'duckduckgo':
      return (await import('../adapters/web-search/duckduckgo.ts')).createDuckDuckGoSearch({
        ...limits,
        baseUrl,
        apiKey,
      });
    case 'none':
      return (await import('../stores/memory.ts')).createNoWebSearch();
  }
}

function requireSetting(key: string | null): string {
  if (key === null) throw new TriageError('invalid-config', 'FAULTLINE_WEB_SEARCH_KEY is not set.');
  return key;
}

/**
 * Opens the analyst that costs nothing, whatever is configured. It is used for runs without a budget, and as
 * the baseline for a model's answers.
 */
export async function openFallbackAnalyst(): Promise<Analyst> {
  return (await import('../judge/rules-analyst.ts')).createRulesAnalyst();
}

/**
 * Opens the configured analyst. If a model is requested but none can be reached without a key, the rules
 * judge and the reason is logged.
 */
export async function openAnalyst(
  config: Pick<Config, 'analyst' | 'triage'>,
  logger: Logger,
  tracer: Tracer = silentTracer,
  metrics: Metrics = silentMetrics,
): Promise<Analyst> {
  const { createRulesAnalyst } = await import('../judge/rules-analyst.ts');
  if (config.analyst.driver === 'rules') return createRulesAnalyst();
  const { llm } = config.analyst;
  const options = toConnectionOptions(llm);
  if (options === null) return createRulesAnalyst({ note: NO_MODEL });
  await requirePrices(config);
  const rules = createRulesAnalyst();
  const { createOpenAiChatModel } = await import('../models/chat/openai.ts');
  const { mergePrices: pricesWith } = await import('../models/chat/prices.ts');
  const { createLlmAnalyst } = await import('../models/analyst/llm-analyst.ts');
  const { withFallback } = await import('../models/analyst/with-fallback.ts');
  const open = (connection: typeof options) => {
    const model = createOpenAiChatModel({ ...connection, prices: pricesWith(llm.prices), logger });
    return wrapListenedChatModel(measureChatModel(traceChatModel(model, tracer), metrics));
  };
  const smaller = toSmallModel(llm);
  const small = smaller === null ? null : toConnectionOptions(smaller);
  const models = { model: open(options), ...(small === null ? {} : { small: open(small) }) };
  const firstRound = config.triage.firstRound === 'model' ? 'primary' : 'fallback';
  return withFallback(createLlmAnalyst(models), rules, logger, { firstRound });
}

export async function openBuildSources(
  config: Config,
  logger: Logger,
): Promise<Partial<Record<Build['provider'], BuildSource>>> {
  const options = { timeoutMs: config.buildSource.timeoutMs, maxLogBytes: config.http.maxLogBytes, logger };
  const resilience = createResilience(LEFT_ALONE);
  const guard = (source: BuildSource): BuildSource => {
    const { provider, complete } = source;
    const guarded: BuildSource = {
      provider,
      fetch: (build, signal) => resilience.once(provider, () => source.fetch(build, signal)),
      fetchGreen: (build, signal, maxBytes) =>
        resilience.once(provider, () => source.fetchGreen(build, signal, maxBytes)),
    };
    if (complete === undefined) return guarded;
    return {
      ...guarded,
      complete: (build, signal) => resilience.once(provider, () => complete(build, signal)),
    };
  };
  const opened = await Promise.all(
    createProviders(config.providers).map((provider) => provider.openBuildSource(options)),
  );
  return Object.fromEntries(opened.map((source) => [source.provider, guard(source)]));
}

/**
 * The circuit breaker of a CI. A refusal concerns one repository and says nothing about the others, so it
 * does not count.
 */
const LEFT_ALONE: ResilienceOptions = {
  firstDelayMs: 0,
  breakAfter: 3,
  restMs: 30_000,
  speaksAgainst: (error) =>
    error instanceof TriageError && error.retryable && ['timeout', 'upstream-failed'].includes(error.code),
};
