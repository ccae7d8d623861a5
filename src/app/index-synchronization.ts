import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import { isRetryable, TriageError } from '../domain/errors.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Database } from '../ports/database.ts';
import type { KnowledgeService } from '../ports/knowledge.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { SemanticIndex, VectorNamespace } from '../ports/vector-index.ts';
import { type IndexWorkDeps, indexHandlers, indexNow } from '../service/index-work.ts';
import { createTeamKnowledgeStore } from '../stores/knowledge.ts';
import { readKnowledge, toKnowledgeItems } from '../tools/knowledge-base.ts';
import { createKnowledgeService } from '../tools/knowledge-service.ts';
import { openModelEmbedder, openModelIndex } from './open-adapters.ts';

/** Keeps an index up to date that may be temporarily unavailable. */
export function openIndexSynchronization(deps: IndexWorkDeps) {
  const startupRunner = createStartupRunner(deps.logger);
  return {
    sync: {
      /** Writes these entries to the index now. Returns `false` if that is done later. Never throws. */
      indexNow: (namespace: VectorNamespace, ids: readonly string[]) => indexNow(deps, namespace, ids),
      runAtStartup: startupRunner.run,
    },
    handlers: indexHandlers(deps.vectorIndex),
    stop: startupRunner.stop,
  };
}

/** The error codes of a service that is unavailable, rejects our requests, or is not set up yet. */
const AWAY: readonly TriageError['code'][] = [
  'upstream-failed',
  'upstream-auth',
  'timeout',
  'rate-limited',
  'quota-exhausted',
];
const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 300_000;

/**
 * Creates a runner for startup work that must not delay startup. Builds are accepted and triaged even if a
 * service is unavailable.
 */
export function createStartupRunner(logger: Logger, firstPauseMs = FIRST_PAUSE_MS) {
  const ending = new AbortController();
  const running = new Set<Promise<void>>();
  const again = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    for await (const _ of generatePauses(firstPauseMs, ending.signal)) {
      try {
        await work();
        return logger.info({ what }, 'in sync with the index again');
      } catch (error) {
        logger.warn({ what, error }, 'still out of sync with the index; will retry');
      }
    }
  };
  return {
    /**
     * Does the work now. If a service is unavailable, the work is repeated in the background until it
     * succeeds. Other errors are thrown.
     */
    async run(what: string, work: () => Promise<unknown>): Promise<void> {
      try {
        await work();
      } catch (error) {
        if (!isAway(error)) throw error;
        logger.warn({ what, error }, 'started without the index; it is updated in the background');
        const trying = again(what, work).finally(() => running.delete(trying));
        running.add(trying);
      }
    },
    async stop(): Promise<void> {
      ending.abort();
      await Promise.all(running);
    },
  };
}

/**
 * Yields after longer and longer pauses, until the signal aborts. The pauses do not keep the process alive.
 */
async function* generatePauses(firstMs: number, signal: AbortSignal): AsyncGenerator<void> {
  for (let pause = firstMs; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    yield;
  }
}

function isAway(error: unknown): boolean {
  return error instanceof TriageError && (AWAY.includes(error.code) || error.details.backend !== undefined);
}

interface KnowledgeParts {
  readonly config: Config;
  readonly database: Database;
  readonly masker: Masker;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Opens the team's documents in the database and the vectors of an embedding model. `semantic` is null if no
 * model is configured.
 */
export async function openKnowledge(parts: KnowledgeParts) {
  const { config, database } = parts;
  const team = createTeamKnowledgeStore(database);
  const semantic = await openSemanticIndex(parts);
  const { createDocumentReader } = await import('../adapters/document-reader/document-reader.ts');
  const curated = async () => toKnowledgeItems(await readKnowledge(config.knowledge.folder));
  return {
    team,
    semantic,
    service: createKnowledgeService({
      ...parts,
      store: team,
      reader: createDocumentReader(),
      semantic,
      curated,
    }),
  };
}

async function openSemanticIndex({
  config,
  database,
  logger,
}: KnowledgeParts): Promise<SemanticIndex | null> {
  const embedder = await openModelEmbedder(config, logger);
  return embedder === null ? null : openModelIndex(config, database, embedder, logger);
}

type OpenedKnowledge = Awaited<ReturnType<typeof openKnowledge>>;

const FIRST_EMBED_PAUSE_MS = 5_000;

/** Embeds missing items in the background, so that startup does not wait for a model. `stop` ends it. */
export function startEmbedding(
  { service, semantic }: OpenedKnowledge,
  logger: Logger,
): { stop(): Promise<void> } {
  const ending = new AbortController();
  const done = semantic === null ? Promise.resolve() : embedInTheEnd(service, logger, ending.signal);
  return {
    stop: async () => {
      ending.abort();
      await done;
    },
  };
}

/** Retries temporary failures, such as an unavailable model or index, until the work succeeds. */
async function embedInTheEnd(service: KnowledgeService, logger: Logger, ending: AbortSignal): Promise<void> {
  const isDone = async () => {
    try {
      logger.info({ ...(await service.embed({}, ending)) }, 'knowledge is embedded');
      return true;
    } catch (error) {
      if (ending.aborted) return true;
      const again = isRetryable(error);
      logger.warn({ error, again }, 'knowledge is not embedded yet; it is found by words only');
      return !again;
    }
  };
  if (await isDone()) return;
  for await (const _ of generatePauses(FIRST_EMBED_PAUSE_MS, ending)) if (await isDone()) return;
}
