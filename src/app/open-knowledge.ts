import type { Config } from '../config/schema.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Clock } from '../ports/clock.ts';
import type { Database } from '../ports/database.ts';
import type { KnowledgeDesk } from '../ports/knowledge-desk.ts';
import type { Logger } from '../ports/logger.ts';
import type { TeamKnowledgeStore } from '../ports/team-knowledge.ts';
import type { SemanticIndex } from '../ports/vector-index.ts';
import { createTeamKnowledgeStore } from '../store/knowledge.ts';
import { createKnowledgeDesk } from '../tools/knowledge/knowledge-desk.ts';
import { knowledgeItems, readKnowledge } from '../tools/knowledge-base.ts';
import { openEmbedder, openModelIndex } from './open-adapters.ts';

export interface OpenedKnowledge {
  readonly desk: KnowledgeDesk;
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
  return { team, semantic, desk: createKnowledgeDesk({ ...parts, store: team, reader, semantic, curated }) };
}

async function openDocumentReader() {
  return (await import('../adapters/document-reader/document-reader.ts')).createDocumentReader();
}

async function openSemanticIndex({ config, database, logger }: KnowledgeParts): Promise<SemanticIndex | null> {
  if (config.embedder.driver === 'hashing') return null;
  return openModelIndex(config, database, await openEmbedder(config, logger), logger);
}

/** Embeds in the background what is not embedded yet, so that no start waits for a model. `stop` ends it. */
export function startEmbedding({ desk, semantic }: OpenedKnowledge, logger: Logger): { stop(): Promise<void> } {
  if (semantic === null) return { stop: async () => undefined };
  const ending = new AbortController();
  const done = desk.embed({}, ending.signal).then(
    (counts) => logger.info({ ...counts }, 'knowledge is embedded'),
    (error: unknown) => {
      if (!ending.signal.aborted) logger.warn({ error }, 'knowledge is not embedded yet; it is found by words alone');
    },
  );
  return {
    stop: async () => {
      ending.abort();
      await done;
    },
  };
}
