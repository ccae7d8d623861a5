import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { OutboxHandler } from '../ports/outbox.ts';
import type { VectorIndex, VectorNamespace } from '../ports/vector-index.ts';
import { type OutboxDeps, processNow } from './outbox.ts';

export interface IndexOutboxDeps extends OutboxDeps {
  readonly vectorIndex: VectorIndex;
}

const NAMESPACES: readonly VectorNamespace[] = ['knowledge', 'team_knowledge', 'error_library'];

const Payload = z.object({
  item: z.object({ text: z.string(), metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) }).nullable(),
});

/** Bring the vector index in step with what people taught. Nothing is ever given up, however long the index is away. */
export function indexHandlers(vectorIndex: VectorIndex): OutboxHandler[] {
  return NAMESPACES.map((namespace) => indexHandler(vectorIndex, namespace));
}

function indexHandler(vectorIndex: VectorIndex, namespace: VectorNamespace): OutboxHandler {
  return {
    topic: `index:${namespace}`,
    // Longer than an index may take for a batch, so that nobody else writes the same entries meanwhile.
    leaseMs: 120_000,
    batch: 50,
    limits: null,
    longestDelayMs: 300_000,
    handle: async (entries, { signal }) => {
      const changes = entries.map(({ key, payload }) => ({ id: key, item: Payload.parse(payload).item }));
      const items = changes.flatMap(({ id, item }) => (item === null ? [] : [{ id, ...item }]));
      const gone = changes.flatMap(({ id, item }) => (item === null ? [id] : []));
      if (items.length > 0) await vectorIndex.upsert(namespace, items, signal);
      if (gone.length > 0) await vectorIndex.remove(namespace, gone);
      return { outcome: 'done', forget: true };
    },
  };
}

/** How long a person waits for what they taught to be found; after that it is written in the background. Milliseconds. */
const AT_ONCE_MS = 5_000;

/**
 * Writes these entries to the index now, as far as nobody else does. Never throws, and never takes long: what could not be written stays in the
 * outbox. `true` where none of them failed.
 */
export async function indexNow(
  { vectorIndex, ...deps }: IndexOutboxDeps,
  namespace: VectorNamespace,
  ids: readonly string[],
): Promise<boolean> {
  const writing = processNow(indexHandler(vectorIndex, namespace), ids, deps, new AbortController().signal).catch((error: unknown) => {
    deps.logger.warn({ error }, 'the outbox could not be read; the index is updated later');
    return false;
  });
  return await Promise.race([writing, sleep(AT_ONCE_MS, false, { ref: false })]);
}
