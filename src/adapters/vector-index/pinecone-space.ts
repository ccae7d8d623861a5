import { setTimeout as sleep } from 'node:timers/promises';
import type { Index } from '@pinecone-database/pinecone';
import { TriageError } from '../../domain/errors.ts';
import { type Logger, silentLogger } from '../../ports/telemetry.ts';
import type { Embedder, VectorNamespace } from '../../ports/vector-index.ts';
import { createPineconeCalls, type PineconeAnswer } from './pinecone-calls.ts';
import { namespaceOf, valuesOf } from './pinecone-records.ts';
import { findTarget, type PineconeTarget } from './pinecone-target.ts';

export interface PineconeOptions {
  readonly apiKey: string;
  /** Name of the index. */
  readonly index: string;
  /** Of the control plane; null: Pinecone's own. */
  readonly baseUrl: string | null;
  readonly logger?: Logger;
  /** Of one call with all its tries, in milliseconds. */
  readonly timeoutMs?: number;
  /** Tries after the first. */
  readonly maxRetries?: number;
  readonly retryDelayMs?: number;
  readonly maxReplyBytes?: number;
  /** How long a write waits until queries show it, in milliseconds. */
  readonly visibleMs?: number;
}

const DEFAULTS = { timeoutMs: 10_000, maxRetries: 3, retryDelayMs: 250, maxReplyBytes: 32 * 1024 * 1024, visibleMs: 10_000 };
/** What doctor and readiness ask: a sentence about the index; throws what keeps it from being used. */
export async function checkPinecone(
  options: PineconeOptions,
  embedder: Pick<Embedder, 'dimensions'>,
  signal?: AbortSignal,
): Promise<string> {
  const call = createPineconeCalls({ ...DEFAULTS, logger: silentLogger, ...options });
  const { dimension } = await findTarget(call, { ...options, dimensions: embedder.dimensions }, signal);
  return `index ${options.index}, cosine, ${dimension} dimensions`;
}

export type Space = ReturnType<typeof openSpace>;

/** The calls to one index, whose host is asked for once and again after it could not be reached. */
export function openSpace(given: PineconeOptions, embedder: Embedder) {
  const options = { ...DEFAULTS, logger: silentLogger, ...given };
  const call = createPineconeCalls(options);
  let known: PineconeTarget | null = null;
  const target = async (signal?: AbortSignal) => {
    known ??= await findTarget(call, { ...options, dimensions: embedder.dimensions }, signal);
    return known;
  };
  const nameOf = (namespace: string) => (isOurs(namespace) ? namespaceOf(namespace, embedder.name) : namespace);
  const onIndex = async <T>(
    namespace: string,
    work: (index: Index, dimension: number) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<PineconeAnswer<T>> => {
    const { host, dimension } = await target(signal);
    try {
      return await call((client) => work(client.index({ host, namespace: nameOf(namespace) }), dimension), signal);
    } catch (error) {
      if (error instanceof TriageError && ['upstream-failed', 'timeout', 'not-found'].includes(error.code)) known = null;
      throw error;
    }
  };
  return {
    options,
    nameOf,
    dimension: async (signal?: AbortSignal) => (await target(signal)).dimension,
    call: onIndex,
    /** A namespace that is not there has nothing to be taken out of. */
    write: async (namespace: string, work: (index: Index) => Promise<void>, signal?: AbortSignal): Promise<number | null> => {
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
 * Pinecone shows a write a moment later. Each namespace counts its writes, and a query says how far it looked: what is asked after a write
 * then sees it, in this process and in any other. Where it takes too long the write stands all the same. Indexes of pods have no such count.
 */
export async function untilVisible(space: Space, namespace: VectorNamespace, written: number | null, signal: AbortSignal | undefined) {
  if (written === null) return;
  const deadline = performance.now() + space.options.visibleMs;
  for (let pause = 25; ; pause = Math.min(pause * 2, 500)) {
    const asked = (index: Index, dimension: number) => index.query({ vector: valuesOf(new Float32Array(), dimension), topK: 1 });
    const { indexed } = await space.call(namespace, asked, signal);
    if (indexed === null || indexed >= written) return;
    if (performance.now() + pause >= deadline) break;
    await sleep(pause, undefined, { signal });
  }
  space.options.logger.warn({ namespace, written }, 'Pinecone does not show a write yet; it stands, and is found later');
}
