import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Index } from '@pinecone-database/pinecone';
import { TriageError } from '../../domain/errors.ts';
import { append, mapInParallel, splitIntoBatches } from '../../lib/collections.ts';
import { type Logger, silentLogger } from '../../ports/telemetry.ts';
import type {
  Embedder,
  SemanticIndex,
  VectorIndex,
  VectorItem,
  VectorNamespace,
} from '../../ports/vector-index.ts';
import { toSimilarity } from './memory.ts';
import {
  createPineconeCalls,
  createTooShortError,
  findTarget,
  type PineconeAnswer,
  type PineconeTarget,
} from './pinecone-calls.ts';
import { countJsonBytes, readMetadata, toRecord, toValues } from './pinecone-records.ts';

/** The number of items that are embedded and sent at once. It bounds the memory in use. */
const GROUP = 100;
const PAGE = 100;
const MAX_ITEMS = 100_000;
const DELETE_AT_ONCE = 1_000;
const FETCHES_AT_ONCE = 4;

/**
 * Creates an index at Pinecone: each namespace includes the name of its embedder, and texts are in the
 * metadata (up to 40 KB). A shorter vector is padded with zeros, so that one index serves a model and the
 * comparison of words. A write ends when queries show it, or after `visibleMs`. Throws TriageError:
 * `upstream-auth`, `quota-exhausted`, `rate-limited`, `upstream-failed`, `timeout`, `cancelled`,
 * `invalid-input`; `invalid-config` if the index is missing or unsuitable.
 */
export function createPineconeIndex(given: PineconeOptions, embedder: Embedder): VectorIndex {
  const space = openSpace(given, embedder);
  return {
    driver: 'pinecone',
    async upsert(namespace, items, signal) {
      const unique = [...new Map(items.map((item) => [item.id, item])).values()];
      let written: number | null = null;
      for (let start = 0; start < unique.length; start += GROUP) {
        written = await store(space, namespace, unique.slice(start, start + GROUP), signal);
      }
      await waitUntilVisible(space, namespace, written, signal);
    },
    search: (namespace, query, signal) => search(space, namespace, query, signal),
    list: (namespace) => listAll(space, namespace),
    async remove(namespace, ids) {
      let written: number | null = null;
      for (let start = 0; start < ids.length; start += DELETE_AT_ONCE) {
        const piece = ids.slice(start, start + DELETE_AT_ONCE);
        written = await space.write(namespace, (index) => index.deleteMany({ ids: [...piece] }));
      }
      await waitUntilVisible(space, namespace, written, undefined);
    },
    async count(namespace) {
      const { value } = await space.call(namespace, (index) => index.describeIndexStats());
      return value.namespaces?.[space.resolveNamespace(namespace)]?.recordCount ?? 0;
    },
  };
}

/**
 * Creates the same index for an embedding model. `kept` names the embedders whose vectors `clear` does not
 * delete.
 */
export function createSemanticPineconeIndex(
  options: PineconeOptions,
  embedder: Embedder,
  kept: readonly string[],
): SemanticIndex {
  const index = createPineconeIndex(options, embedder);
  const space = openSpace(options, embedder);
  const filled = new Set<VectorNamespace>();
  return {
    ...index,
    embedder: embedder.name,
    // A model is not asked, and paid for, if nothing can be found.
    async search(namespace, query, signal) {
      if (!filled.has(namespace)) {
        if ((await index.count(namespace)) === 0) return [];
        filled.add(namespace);
      }
      return index.search(namespace, query, signal);
    },
    async clear() {
      filled.clear();
      const { value } = await space.call('knowledge', (other) => other.describeIndexStats());
      for (const name of Object.keys(value.namespaces ?? {}).filter((namespace) =>
        isOfOthers(namespace, kept),
      )) {
        await space.write(name, (other) => other.deleteAll({ namespace: name }));
      }
    },
  };
}

async function store(
  space: Space,
  namespace: VectorNamespace,
  items: readonly VectorItem[],
  signal: AbortSignal | undefined,
) {
  const vectors = await space.embedder.embed(
    items.map((item) => item.text),
    signal,
  );
  const dimension = await space.dimension(signal);
  const records = items.map((item, index) =>
    toRecord(item, requireVectorThatFits(space, vectors[index], dimension), dimension),
  );
  let written: number | null = null;
  for (const batch of splitIntoBatches(records, REQUEST, (record) => countJsonBytes(record) + 1)) {
    written = (await space.call(namespace, (index) => index.upsert({ records: batch }), signal)).written;
  }
  return written;
}

function requireVectorThatFits(
  { embedder, options }: Space,
  vector: Float32Array | undefined,
  dimension: number,
): Float32Array {
  if (vector === undefined)
    throw new TriageError('internal', `The embedder ${embedder.name} returned no vector`);
  if (vector.length > dimension) throw createTooShortError(options.index, dimension, vector.length);
  return vector;
}

async function search(
  space: Space,
  namespace: VectorNamespace,
  { text, limit, filter = {} }: Parameters<VectorIndex['search']>[1],
  signal: AbortSignal | undefined,
) {
  if (limit < 1) return [];
  const [vector] = await space.embedder.embed([text], signal);
  const floor = (await space.embedder.unrelated?.(signal)) ?? 0;
  const asked = Object.entries(filter).map(([field, value]) => [field, { $eq: value }]);
  const { value } = await space.call(
    namespace,
    (index, dimension) =>
      index.query({
        vector: toValues(requireVectorThatFits(space, vector, dimension), dimension),
        topK: limit,
        includeMetadata: true,
        ...(asked.length === 0 ? {} : { filter: Object.fromEntries(asked) }),
      }),
    signal,
  );
  return value.matches
    .map(({ id, score = 0, metadata }) => ({
      id,
      ...readMetadata(metadata),
      score: toSimilarity(score, floor),
    }))
    .sort((left, right) => right.score - left.score || left.id.localeCompare(right.id));
}

async function listAll(
  space: Space,
  namespace: VectorNamespace,
): Promise<Pick<VectorItem, 'id' | 'metadata'>[]> {
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
  const pieces = [...splitIntoBatches(ids, ADDRESS, (id) => encodeURIComponent(id).length + 5)];
  const fetched = await mapInParallel(pieces, FETCHES_AT_ONCE, (ids) =>
    space.call(namespace, (index) => index.fetch({ ids })),
  );
  return fetched.flatMap(({ value }) =>
    Object.entries(value.records).map(([id, { metadata }]) => ({
      id,
      metadata: readMetadata(metadata).metadata,
    })),
  );
}

export interface PineconeOptions {
  readonly apiKey: string;
  /** Name of the index. */
  readonly index: string;
  /** The address of the control plane; null for Pinecone's own. */
  readonly baseUrl: string | null;
  readonly logger?: Logger;
  /** Time limit of one call with all its tries, in milliseconds. */
  readonly timeoutMs?: number;
  /** Tries after the first. */
  readonly maxRetries?: number;
  readonly retryDelayMs?: number;
  readonly maxReplyBytes?: number;
  /** Milliseconds that a write waits until queries show it. */
  readonly visibleMs?: number;
}

const DEFAULTS = {
  timeoutMs: 10_000,
  maxRetries: 3,
  retryDelayMs: 250,
  maxReplyBytes: 32 * 1024 * 1024,
  visibleMs: 10_000,
};
/**
 * Checks the index for doctor and readiness. Returns a sentence about the index; throws the error that
 * prevents its use.
 */
export async function checkPinecone(
  options: PineconeOptions,
  embedder: Pick<Embedder, 'dimensions'>,
  signal?: AbortSignal,
): Promise<string> {
  const call = createPineconeCalls({ ...DEFAULTS, logger: silentLogger, ...options });
  const { dimension } = await findTarget(call, { ...options, dimensions: embedder.dimensions }, signal);
  return `index ${options.index}, cosine, ${dimension} dimensions`;
}

type Space = ReturnType<typeof openSpace>;

/**
 * Creates the calls to one index. Its host is looked up once, and again after the host could not be reached.
 */
function openSpace(given: PineconeOptions, embedder: Embedder) {
  const options = { ...DEFAULTS, logger: silentLogger, ...given };
  const call = createPineconeCalls(options);
  let known: PineconeTarget | null = null;
  const target = async (signal?: AbortSignal) => {
    known ??= await findTarget(call, { ...options, dimensions: embedder.dimensions }, signal);
    return known;
  };
  const resolveNamespace = (namespace: string) =>
    isOurs(namespace) ? formatNamespace(namespace, embedder.name) : namespace;
  const onIndex = async <T>(
    namespace: string,
    work: (index: Index, dimension: number) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<PineconeAnswer<T>> => {
    const { host, dimension } = await target(signal);
    try {
      return await call(
        (client) => work(client.index({ host, namespace: resolveNamespace(namespace) }), dimension),
        signal,
      );
    } catch (error) {
      if (error instanceof TriageError && ['upstream-failed', 'timeout', 'not-found'].includes(error.code))
        known = null;
      throw error;
    }
  };
  return {
    options,
    embedder,
    resolveNamespace,
    dimension: async (signal?: AbortSignal) => (await target(signal)).dimension,
    call: onIndex,
    /**
     * Runs a write on a namespace. Returns null if the namespace does not exist, because there is nothing to
     * remove.
     */
    write: async (
      namespace: string,
      work: (index: Index) => Promise<void>,
      signal?: AbortSignal,
    ): Promise<number | null> => {
      try {
        return (await onIndex(namespace, work, signal)).written;
      } catch (error) {
        if (error instanceof TriageError && error.code === 'not-found') return null;
        throw error;
      }
    },
  };
}

function isOurs(namespace: string): namespace is VectorNamespace {
  return namespace === 'knowledge' || namespace === 'team_knowledge' || namespace === 'error_library';
}

/**
 * Waits until queries show a write, because Pinecone shows it with a delay. Each namespace counts its writes,
 * and a query reports up to which write it looked, so a later query in any process sees the write. If this
 * takes too long, the write remains valid. Pod-based indexes have no such count.
 */
async function waitUntilVisible(
  space: Space,
  namespace: VectorNamespace,
  written: number | null,
  signal: AbortSignal | undefined,
) {
  if (written === null) return;
  const deadline = performance.now() + space.options.visibleMs;
  for (let pause = 25; ; pause = Math.min(pause * 2, 500)) {
    const asked = (index: Index, dimension: number) =>
      index.query({ vector: toValues(new Float32Array(), dimension), topK: 1 });
    const { indexed } = await space.call(namespace, asked, signal);
    if (indexed === null || indexed >= written) return;
    if (performance.now() + pause >= deadline) break;
    await sleep(pause, undefined, { signal });
  }
  space.options.logger.warn(
    { namespace, written },
    'Pinecone does not show a write yet; it is stored and will be found later',
  );
}
/** Pinecone takes 2 MB a request, and recommends no more than 100 vectors. */
const REQUEST = { most: 100, room: 1_900_000 };
/** Ids of a request that carries them in its address, in characters. */
const ADDRESS = { most: 100, room: 4_000 };

/** Vectors of different embedders lie in different namespaces, so that they are never compared. */
function formatNamespace(namespace: VectorNamespace, embedder: string): string {
  return `${namespace}.${toSlug(embedder)}`;
}

/** Returns true if a namespace of the index is one of ours and belongs to none of these embedders. */
function isOfOthers(name: string, embedders: readonly string[]): boolean {
  const ours = /^(?:knowledge|team_knowledge|error_library)\.(.+)$/.exec(name);
  return ours !== null && !embedders.some((embedder) => toSlug(embedder) === ours[1]);
}

function toSlug(embedder: string): string {
  const slug = embedder.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 100);
  return slug === embedder
    ? slug
    : `${slug}-${createHash('sha256').update(embedder).digest('hex').slice(0, 8)}`;
}
