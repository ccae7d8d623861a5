import { createHash } from 'node:crypto';
import type { ToolOutcome } from '../domain/evidence.ts';
import { limitTime } from '../lib/resilience.ts';
import { settleOrAbort } from '../lib/time.ts';
import type { KeptResult, ToolCacheStore } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { Tool, ToolContext, ToolRequest } from './tool.ts';

/** The result of calling one tool. */
export type Reply = Pick<ToolOutcome, 'status' | 'findings' | 'summary' | 'attempts' | 'cached'> & {
  /** True if the provider refused our credentials or quota, so that calling it in another way is useless. */
  readonly final?: boolean;
};

export interface ResultCache {
  /**
   * Returns the cached answer, or else the result of `work`, which is cached if the tool allows it and
   * something was found. Identical concurrent requests about the same
   * failure are merged. If the cache fails, only time is lost, not the answer; if it hangs, it is abandoned.
   */
  answer(tool: Tool, request: ToolRequest, context: CacheContext, work: () => Promise<Reply>): Promise<Reply>;
}

/**
 * The version of the cache key. Raise it when findings change their shape, so that older entries are not
 * found.
 */
const VERSION = 1;
/**
 * Time limit for finding and reading a cached answer, in milliseconds. A new request often takes no longer.
 */
const LOOKUP_MS = 2_000;
/** The time limit for that if the provider is unavailable, because determining the cache key may need it. */
const LOOKUP_ALONE_MS = 200;

interface CacheContext extends ToolContext {
  /** True if the circuit breaker of the tool's provider is open. */
  readonly isLeftAlone: boolean;
}

/**
 * Creates the cache. With `store` null nothing is cached, but identical concurrent requests are still
 * merged.
 */
export function createResultCache(store: ToolCacheStore | null, logger: Logger): ResultCache {
  const running = new Map<string, Promise<Reply>>();
  const first = (flight: string, ask: () => Promise<Reply>): Promise<Reply> => {
    const asked = ask().finally(() => running.delete(flight));
    running.set(flight, asked);
    return asked;
  };
  const share = async (flight: string, signal: AbortSignal, ask: () => Promise<Reply>): Promise<Reply> => {
    const asked = running.get(flight);
    if (asked === undefined) return first(flight, ask);
    const outcome = await settleOrAbort(Promise.allSettled([asked]), signal);
    // The other run was canceled, not this one.
    if (outcome[0].status === 'rejected') return share(flight, signal, ask);
    const { final, ...reply } = outcome[0].value;
    return {
      ...reply,
      attempts: 0,
      ...(reply.status === 'ok' && { cached: true }),
      ...(final === true && { final }),
    };
  };
  return {
    answer: async (tool, request, context, work) => {
      const key = store === null ? null : await buildKey(tool, request, context, logger);
      const flight =
        key ?? getDigest([tool.description.name, request.args, context.category, context.subject.triageId]);
      return share(flight, context.signal, async () => {
        const kept =
          key === null || store === null
            ? null
            : await tryWithin(LOOKUP_MS, context.signal, logger, () => store.get(key));
        if (kept !== null)
          return {
            status: 'ok',
            findings: [...kept.findings],
            summary: kept.summary,
            attempts: 0,
            cached: true,
          };
        const reply = await work();
        if (key !== null && store !== null && reply.status === 'ok')
          await keep(store, key, tool, context, reply, logger);
        return reply;
      });
    },
  };
}

/**
 * Returns the cache key. Returns null if the tool is not cached, is unavailable, or cannot determine what its
 * result depends on.
 */
async function buildKey(
  tool: Tool,
  request: ToolRequest,
  context: CacheContext,
  logger: Logger,
): Promise<string | null> {
  if (tool.cacheTtlMs === null) return null;
  const { build } = context.subject;
  const limitMs = context.isLeftAlone ? LOOKUP_ALONE_MS : LOOKUP_MS;
  const holds = await tryWithin(limitMs, context.signal, logger, async (signal) => {
    if ((await tool.findUnavailableReason(context.subject)) !== null) return null;
    return await request.cacheKey({ ...context, signal });
  });
  if (holds === null) return null;
  // The category decides which files a tool may read, so it is part of the key. So is the repository, so that
  // no project sees the results of another.
  return getDigest([
    VERSION,
    tool.description.name,
    request.args,
    context.category,
    build.provider,
    build.repository,
    holds,
  ]);
}

async function keep(
  store: ToolCacheStore,
  key: string,
  tool: Tool,
  context: ToolContext,
  reply: Reply,
  logger: Logger,
): Promise<void> {
  const of = {
    key,
    tool: tool.description.name,
    repository: context.subject.build.repository,
    ttlMs: tool.cacheTtlMs ?? 0,
  };
  const { findings, summary } = reply;
  await tryWithin(LOOKUP_MS, context.signal, logger, async () => {
    await store.put(of, { findings, summary });
    return null;
  });
}

/** Returns null if the work fails or takes too long. Throws only if the run itself ends. */
async function tryWithin<Value>(
  limitMs: number,
  run: AbortSignal,
  logger: Logger,
  work: (signal: AbortSignal) => Promise<Value | null>,
): Promise<Value | null> {
  try {
    return await limitTime({ limitMs, signal: run }, work);
  } catch (error) {
    if (run.aborted) throw error;
    logger.debug({ error }, 'the tool cache could not be used');
    return null;
  }
}

function getDigest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sortKeys)).digest('hex');
}

/** Sorts the keys of objects, so that equal objects have equal JSON. */
function sortKeys(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}

const MAX_ENTRIES = 500;

/**
 * Creates a cache in memory for the terminal, which has no database. It is limited by the number of results.
 */
export function createMemoryToolCache(
  maxEntries = MAX_ENTRIES,
  now: () => number = Date.now,
): ToolCacheStore {
  // The entries are in order of use: a Map keeps insertion order, and a used entry is inserted again.
  const kept = new Map<string, { readonly result: KeptResult; readonly endsAt: number }>();
  const sweep = async () => {
    const before = kept.size;
    for (const [key, { endsAt }] of kept) if (endsAt <= now()) kept.delete(key);
    for (const key of kept.keys()) {
      if (kept.size <= maxEntries) break;
      kept.delete(key);
    }
    return before - kept.size;
  };
  return {
    get: async (key) => {
      const entry = kept.get(key);
      if (entry === undefined) return null;
      kept.delete(key);
      if (entry.endsAt <= now()) return null;
      kept.set(key, entry);
      return entry.result;
    },
    put: async ({ key, ttlMs }, result) => {
      kept.delete(key);
      kept.set(key, { result, endsAt: now() + ttlMs });
      if (kept.size > maxEntries) await sweep();
    },
    sweep,
  };
}
