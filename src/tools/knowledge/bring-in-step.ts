import { createHash } from 'node:crypto';
import type { VectorIndex, VectorItem, VectorNamespace } from '../../ports/vector-index.ts';

const BATCH = 200;

/** What was embedded and what was removed, as ids of items. */
export interface InStep {
  readonly fresh: readonly string[];
  readonly gone: readonly string[];
}

/** An item that knows what it was made of: `metadata.hash`. */
export function hashedItem(id: string, text: string, metadata: Readonly<Record<string, string | number>>): VectorItem {
  const hash = createHash('sha256')
    .update(JSON.stringify([text, metadata]))
    .digest('hex')
    .slice(0, 16);
  return { id, text, metadata: { ...metadata, hash } };
}

/**
 * Makes a namespace hold just these items: what has another hash is embedded, what is not among them is removed. Items that people add and
 * take away are asked for once it is known what the index holds: what somebody adds meanwhile is then never taken for a stray.
 */
export async function bringInStep(
  index: VectorIndex,
  namespace: VectorNamespace,
  given: readonly VectorItem[] | (() => Promise<readonly VectorItem[]>),
  signal?: AbortSignal,
): Promise<InStep> {
  const held = await index.list(namespace);
  const items = typeof given === 'function' ? await given() : given;
  const hashes = new Map(held.map(({ id, metadata }) => [id, metadata.hash]));
  const fresh = items.filter((item) => hashes.get(item.id) !== item.metadata.hash);
  for (let from = 0; from < fresh.length; from += BATCH) await index.upsert(namespace, fresh.slice(from, from + BATCH), signal);
  const wanted = new Set(items.map(({ id }) => id));
  const gone = held.filter(({ id }) => !wanted.has(id)).map(({ id }) => id);
  if (gone.length > 0) await index.remove(namespace, gone);
  return { fresh: fresh.map(({ id }) => id), gone };
}
