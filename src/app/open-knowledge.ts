import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import { isRetryable } from '../domain/errors.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Database } from '../ports/database.ts';
import type { KnowledgeService, TeamKnowledgeStore } from '../ports/knowledge.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { SemanticIndex } from '../ports/vector-index.ts';
import { createTeamKnowledgeStore } from '../stores/knowledge.ts';
import { knowledgeItems, readKnowledge } from '../tools/knowledge-base.ts';
import { createKnowledgeService } from '../tools/knowledge-service.ts';
import { openModelEmbedder, openModelIndex } from './open-adapters.ts';

export interface OpenedKnowledge {
  readonly service: KnowledgeService;
  readonly team: TeamKnowledgeStore;
  /** Null where no embedding model is configured. */
  readonly semantic: SemanticIndex | null;
}

interface KnowledgeParts {
  readonly config: Config;
  readonly database: Database;
  readonly masker: Masker;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A team's documents in the database, and the vectors of an embedding model where one is configured. */
export async function openKnowledge(parts: KnowledgeParts): Promise<OpenedKnowledge> {
  const { config, database } = parts;
  const team = createTeamKnowledgeStore(database);
  const semantic = await openSemanticIndex(parts);
  const reader = await openDocumentReader();
  const curated = async () => knowledgeItems(await readKnowledge(config.knowledge.folder));
  return { team, semantic, service: createKnowledgeService({ ...parts, store: team, reader, semantic, curated }) };
}

async function openDocumentReader() {
  return (await import('../adapters/document-reader/document-reader.ts')).createDocumentReader();
}

async function openSemanticIndex({ config, database, logger }: KnowledgeParts): Promise<SemanticIndex | null> {
  const embedder = await openModelEmbedder(config, logger);
  return embedder === null ? null : openModelIndex(config, database, embedder, logger);
}

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;

/** Embeds in the background what is not embedded yet, so that no start waits for a model. `stop` ends it. */
export function startEmbedding({ service, semantic }: OpenedKnowledge, logger: Logger): { stop(): Promise<void> } {
  if (semantic === null) return { stop: async () => undefined };
  const ending = new AbortController();
  const done = embedInTheEnd(service, logger, ending.signal);
  return {
    stop: async () => {
      ending.abort();
      await done;
    },
  };
}

/** What may pass, as where a model or an index is away, is tried again for as long as it takes. */
async function embedInTheEnd(service: KnowledgeService, logger: Logger, ending: AbortSignal): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      const counts = await service.embed({}, ending);
      return logger.info({ ...counts }, 'knowledge is embedded');
    } catch (error) {
      if (ending.aborted) return;
      const again = isRetryable(error);
      logger.warn({ error, again }, 'knowledge is not embedded yet; it is found by words only');
      if (!again) return;
      await sleep(pause, undefined, { signal: ending, ref: false }).catch(() => undefined);
      if (ending.aborted) return;
    }
  }
}
