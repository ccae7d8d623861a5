import { TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/lists.ts';
import type { Embedder, SemanticIndex, VectorIndex, VectorItem, VectorNamespace } from '../../ports/vector-index.ts';
import { aboveFloor } from './above-floor.ts';
import { batchesOf, idsOf, isOfOthers, readMetadata, recordOf, valuesOf } from './pinecone-records.ts';
import { openSpace, type PineconeOptions, type Space, untilVisible } from './pinecone-space.ts';
import { tooShort } from './pinecone-target.ts';

/** Items embedded and sent at once; bounds what is held in memory. */
const GROUP = 100;
const PAGE = 100;
const MAX_ITEMS = 100_000;
const DELETE_AT_ONCE = 1_000;
const FETCHES_AT_ONCE = 4;

/**
 * An index at Pinecone: each namespace by the name of its embedder, texts in the metadata (as far as 40 KB take them). A shorter vector is
 * filled up with zeros, so one index serves a model and the comparison of words. A write ends when queries show it, or after `visibleMs`.
 * Throws TriageError: `upstream-auth`, `quota-exhausted`, `rate-limited`, `upstream-failed`, `timeout`, `cancelled`, `invalid-input`;
 * `invalid-config` where the index is missing or unfit.
 */
export function createPineconeIndex(given: PineconeOptions, embedder: Embedder): VectorIndex {
  const space = openSpace(given, embedder);
  return {
    driver: 'pinecone',
    async upsert(namespace, items, signal) {
      const unique = [...new Map(items.map((item) => [item.id, item])).values()];
      let written: number | null = null;
      for (let start = 0; start < unique.length; start += GROUP) {
        written = await store(space, embedder, namespace, unique.slice(start, start + GROUP), signal);
      }
      await untilVisible(space, namespace, written, signal);
    },
    search: (namespace, query, signal) => search(space, embedder, namespace, query, signal),
    list: (namespace) => listAll(space, namespace),
    async remove(namespace, ids) {
      let written: number | null = null;
      for (let start = 0; start < ids.length; start += DELETE_AT_ONCE) {
        const piece = ids.slice(start, start + DELETE_AT_ONCE);
        written = await space.write(namespace, (index) => index.deleteMany({ ids: [...piece] }));
      }
      await untilVisible(space, namespace, written, undefined);
    },
    async count(namespace) {
      const { value } = await space.call(namespace, (index) => index.describeIndexStats());
      return value.namespaces?.[space.nameOf(namespace)]?.recordCount ?? 0;
    },
  };
}

/** The same for an embedding model. `kept` names the embedders whose vectors `clear` leaves alone. */
export function createSemanticPineconeIndex(options: PineconeOptions, embedder: Embedder, kept: readonly string[]): SemanticIndex {
  const index = createPineconeIndex(options, embedder);
  const space = openSpace(options, embedder);
  const filled = new Set<VectorNamespace>();
  return {
    ...index,
    embedder: embedder.name,
    // Nothing is asked of a model, and paid for, where nothing can be found.
    async search(namespace, query, signal) {
      if (!filled.has(namespace)) {
        if ((await index.count(namespace)) === 0) return [];
        filled.add(namespace);
      }
      return index.search(namespace, query, signal);
    },
    async clear() {
      filled.clear();
      const { value } = await space.call('knowledge', (one) => one.describeIndexStats());
      for (const name of Object.keys(value.namespaces ?? {}).filter((one) => isOfOthers(one, kept))) {
        await space.write(name, (one) => one.deleteAll({ namespace: name }));
      }
    },
  };
}

async function store(
  space: Space,
  embedder: Embedder,
  namespace: VectorNamespace,
  items: readonly VectorItem[],
  signal: AbortSignal | undefined,
): Promise<number | null> {
  const vectors = await embedder.embed(
    items.map((item) => item.text),
    signal,
  );
  const dimension = await space.dimension(signal);
  const records = items.map((item, index) => recordOf(item, vectorThatFits(space, embedder, vectors[index], dimension), dimension));
  let written: number | null = null;
  for (const batch of batchesOf(records)) {
    written = (await space.call(namespace, (index) => index.upsert({ records: batch }), signal)).written;
  }
  return written;
}

function vectorThatFits(space: Space, embedder: Embedder, vector: Float32Array | undefined, dimension: number): Float32Array {
  if (vector === undefined) throw new TriageError('internal', `The embedder ${embedder.name} returned no vector`);
  if (vector.length > dimension) throw tooShort(space.options.index, dimension, vector.length);
  return vector;
}

async function search(
  space: Space,
  embedder: Embedder,
  namespace: VectorNamespace,
  { text, limit, filter = {} }: Parameters<VectorIndex['search']>[1],
  signal: AbortSignal | undefined,
) {
  if (limit < 1) return [];
  const [vector] = await embedder.embed([text], signal);
  const floor = (await embedder.unrelated?.(signal)) ?? 0;
  const asked = Object.entries(filter).map(([field, value]) => [field, { $eq: value }]);
  const { value } = await space.call(
    namespace,
    (index, dimension) =>
      index.query({
        vector: valuesOf(vectorThatFits(space, embedder, vector, dimension), dimension),
        topK: limit,
        includeMetadata: true,
        ...(asked.length === 0 ? {} : { filter: Object.fromEntries(asked) }),
      }),
    signal,
  );
  return value.matches
    .map(({ id, score = 0, metadata }) => ({ id, ...readMetadata(metadata), score: aboveFloor(score, floor) }))
    .sort((left, right) => right.score - left.score || left.id.localeCompare(right.id));
}

async function listAll(space: Space, namespace: VectorNamespace): Promise<Pick<VectorItem, 'id' | 'metadata'>[]> {
  const ids: string[] = [];
  let paginationToken: string | undefined;
  do {
    const page = { limit: PAGE, ...(paginationToken === undefined ? {} : { paginationToken }) };
    const { value } = await space.call(namespace, (index) => index.listPaginated(page));
    append(
      ids,
      (value.vectors ?? []).flatMap(({ id }) => id ?? []),
    );
    paginationToken = value.pagination?.next || undefined;
  } while (paginationToken !== undefined && ids.length < MAX_ITEMS);
  const pieces = [...idsOf(ids)];
  const items: Pick<VectorItem, 'id' | 'metadata'>[] = [];
  for (let start = 0; start < pieces.length; start += FETCHES_AT_ONCE) {
    const some = pieces.slice(start, start + FETCHES_AT_ONCE);
    const fetched = await Promise.all(some.map((piece) => space.call(namespace, (index) => index.fetch({ ids: piece }))));
    for (const { value } of fetched) {
      for (const [id, { metadata }] of Object.entries(value.records)) items.push({ id, metadata: readMetadata(metadata).metadata });
    }
  }
  return items;
}
