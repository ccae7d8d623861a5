import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { VectorIndex, VectorNamespace } from '../ports/vector-index.ts';
import type { WorkHandler } from '../ports/work.ts';
import { processNow, type WorkDeps } from '../work/process-items.ts';

export interface IndexWorkDeps extends WorkDeps {
  readonly vectorIndex: VectorIndex;
}

const NAMESPACES: readonly VectorNamespace[] = ['knowledge', 'team_knowledge', 'error_library'];

const Payload = z.object({
  item: z
    .object({
      text: z.string(),
      metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    })
    .nullable(),
});

/**
 * Creates the handlers that update the vector index with what reviewers taught. They retry without limit
 * while the index is unavailable.
 */
export function indexHandlers(vectorIndex: VectorIndex): WorkHandler[] {
  return NAMESPACES.map((namespace) => indexHandler(vectorIndex, namespace));
}

function indexHandler(vectorIndex: VectorIndex, namespace: VectorNamespace): WorkHandler {
  return {
    topic: `index:${namespace}`,
    // The lease is longer than an index needs for a batch, so that no other process writes the same items.
    leaseMs: 120_000,
    batch: 50,
    limits: null,
    longestDelayMs: 300_000,
    handle: async (items, { signal }) => {
      const changes = items.map(({ key, payload }) => ({ id: key, item: Payload.parse(payload).item }));
      const added = changes.flatMap(({ id, item }) => (item === null ? [] : [{ id, ...item }]));
      const gone = changes.flatMap(({ id, item }) => (item === null ? [id] : []));
      if (added.length > 0) await vectorIndex.upsert(namespace, added, signal);
      if (gone.length > 0) await vectorIndex.remove(namespace, gone);
      return { outcome: 'done', forget: true };
    },
  };
}

/**
 * The number of milliseconds that a person waits until new knowledge is searchable. After that, it is indexed
 * in the background.
 */
const AT_ONCE_MS = 5_000;

/**
 * Writes these items to the index now, unless another process does. Never throws and never takes long: items
 * that could not be written stay pending. Returns true if none of them failed.
 */
export async function indexNow(
  { vectorIndex, ...deps }: IndexWorkDeps,
  namespace: VectorNamespace,
  ids: readonly string[],
): Promise<boolean> {
  const writing = processNow(
    indexHandler(vectorIndex, namespace),
    ids,
    deps,
    new AbortController().signal,
  ).catch((error: unknown) => {
    deps.logger.warn({ error }, 'the index could not be updated at once; it is updated later');
    return false;
  });
  return await Promise.race([writing, sleep(AT_ONCE_MS, false, { ref: false })]);
}
