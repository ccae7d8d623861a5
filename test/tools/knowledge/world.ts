import { createDocumentReader } from '../../../src/adapters/document-reader/document-reader.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import type { Embedder, SemanticIndex, VectorItem } from '../../../src/ports/vector-index.ts';
import { createMemoryIndex } from '../../../src/stores/vectors/memory.ts';
import { createKnowledgeService } from '../../../src/tools/knowledge-service.ts';
import { createMemoryTeamKnowledge } from '../../support/memory-team-knowledge.ts';

/** An index in memory that plays the one of a model. */
function createSemanticIndex(embedder: Embedder): SemanticIndex {
  const index = createMemoryIndex(embedder);
  return {
    ...index,
    embedder: embedder.name,
    clear: async () => {
      for (const namespace of ['knowledge', 'team_knowledge'] as const) {
        await index.remove(
          namespace,
          (await index.list(namespace)).map(({ id }) => id),
        );
      }
    },
  };
}

/** A desk with real parts, and what is behind it. */
export function createServiceWorld(options: { embedder?: Embedder; curated?: readonly VectorItem[] } = {}) {
  const store = createMemoryTeamKnowledge();
  const semantic = options.embedder === undefined ? null : createSemanticIndex(options.embedder);
  const knowledge = createKnowledgeService({
    store,
    reader: createDocumentReader(),
    masker: createMasker(),
    semantic,
    curated: async () => options.curated ?? [],
    clock: { now: () => Date.parse('2026-01-02T03:04:05Z') },
    logger: silentLogger,
  });
  const add = (
    source: string,
    content: string | Buffer,
    more: { category?: 'INFRA_ERROR'; dryRun?: boolean } = {},
  ) =>
    knowledge.add({
      source,
      bytes: Buffer.from(content),
      category: more.category ?? null,
      importedBy: 'mara',
      dryRun: more.dryRun ?? false,
    });
  return { store, semantic, knowledge, add, words: createMemoryIndex(createHashingEmbedder()) };
}
