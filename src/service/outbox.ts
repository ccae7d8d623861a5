import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { computeRetryDelay, getErrorMessage, isRetryable } from '../domain/errors.ts';
import type { OutboxEntry, OutboxHandler } from '../domain/outbox.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Failpoint } from '../ports/database.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { VectorIndex, VectorNamespace } from '../ports/vector-index.ts';
import type { OutboxStore } from '../stores/outbox.ts';

export interface OutboxDeps {
  readonly outbox: Pick<OutboxStore, 'due' | 'take' | 'finish' | 'release'>;
  readonly masker: Pick<Masker, 'mask'>;
  readonly logger: Logger;
  readonly failpoint?: Failpoint;
}

export interface OutboxWorkerDeps extends OutboxDeps {
  readonly handlers: readonly OutboxHandler[];
  /** Between two looks for what is due, in milliseconds; a wake comes before it. */
  readonly intervalMs: number;
  /** A stop waits for so long for what is being processed. Absent: 5 s. */
  readonly stopGraceMs?: number;
}

export type OutboxWorker = ReturnType<typeof startOutbox>;

/** A call cut off may have got through, so a stop waits for it; in milliseconds. */
const STOP_GRACE_MS = 5_000;
/** Milliseconds within which interrupted work may release its entries. */
const CUT_OFF_MS = 2_000;
const MAX_ERROR_LENGTH = 500;

/**
 * Processes the outbox in the background: at once, every `intervalMs`, and when it is woken. All of it is in
 * the database, so that a stop or a crash loses nothing, and any number of processes may do this at once.
 * Each topic has its own turn: one that hangs delays no other.
 */
export function startOutbox({ handlers, intervalMs, stopGraceMs, ...deps }: OutboxWorkerDeps) {
  const [stopping, cutOff] = [new AbortController(), new AbortController()];
  const signals = { stopping: stopping.signal, cutOff: cutOff.signal };
  const turns = new Map(
    handlers.map((handler) => [handler.topic, serializeRuns(() => workOff(handler, deps, signals))]),
  );
  const topics = [...turns.keys()];
  const looking = serializeRuns(async () => {
    try {
      const due = topics.length === 0 ? [] : await deps.outbox.due(topics);
      if (!stopping.signal.aborted) for (const topic of due) turns.get(topic)?.look();
    } catch (error) {
      if (!stopping.signal.aborted) deps.logger.warn({ error }, 'the outbox could not be read; will retry');
    }
  });
  const wake = () => {
    if (!stopping.signal.aborted) looking.look();
  };
  const timer = setInterval(wake, intervalMs);
  timer.unref();
  wake();
  return {
    /** Looks at once: something was added. */
    wake,
    /** Takes nothing more, lets what is being processed end for a moment, and gives back the rest. */
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      const ended = Promise.all([looking, ...turns.values()].map((turn) => turn.ended()));
      await Promise.race([ended, sleep(stopGraceMs ?? STOP_GRACE_MS, undefined, { ref: false })]);
      cutOff.abort(new Error('the process stops'));
      // A store that is frozen does not hear it, and must not hold up the end: what it holds is free again
      // when its lease is over.
      await Promise.race([ended, sleep(CUT_OFF_MS, undefined, { ref: false })]);
    },
  };
}

/** Runs the work one call at a time. A call requested in the meantime runs after the current one. */
function serializeRuns(work: () => Promise<void>): { look(): void; ended(): Promise<void> } {
  let running: Promise<void> | null = null;
  let again = false;
  const look = () => {
    again = running !== null;
    running ??= work().finally(() => {
      running = null;
      if (again) look();
    });
  };
  return { look, ended: () => running ?? Promise.resolve() };
}

interface Signals {
  /** The signal after which no new work is started. */
  readonly stopping: AbortSignal;
  /** The signal that interrupts work in progress. */
  readonly cutOff: AbortSignal;
}

async function workOff(handler: OutboxHandler, deps: OutboxDeps, signals: Signals): Promise<void> {
  const lanes = Array.from({ length: handler.lanes ?? 1 }, () => drainLane(handler, deps, signals));
  for (const lane of await Promise.allSettled(lanes)) {
    if (lane.status === 'fulfilled' || signals.stopping.aborted) continue;
    deps.logger.warn(
      { topic: handler.topic, error: lane.reason },
      'the outbox could not be processed; will retry',
    );
  }
}

async function drainLane(
  handler: OutboxHandler,
  deps: OutboxDeps,
  { stopping, cutOff }: Signals,
): Promise<void> {
  while (!stopping.aborted && (await handler.isPaused?.()) !== true) {
    const entries = await process(handler, deps, cutOff);
    // Where many go together, one that fails says that the other side is away.
    if (entries === null || (entries.failed && (handler.batch ?? 1) > 1)) return;
  }
}

/** Processes what is due of a topic now, in this process; throws where the database cannot be asked. */
export async function drainOutbox(
  handler: OutboxHandler,
  deps: OutboxDeps,
  signal: AbortSignal,
): Promise<void> {
  await drainLane(handler, deps, { stopping: signal, cutOff: signal });
}

/**
 * Processes these entries now, due or not. `true` where none of them failed. Throws where the database cannot
 * be asked.
 */
async function processNow(
  handler: OutboxHandler,
  keys: readonly string[],
  deps: OutboxDeps,
  signal: AbortSignal,
): Promise<boolean> {
  return (await process(handler, deps, signal, keys))?.failed !== true;
}

/** Processes entries. Returns null if there were none. */
async function process(
  handler: OutboxHandler,
  deps: OutboxDeps,
  signal: AbortSignal,
  keys?: readonly string[],
): Promise<{ readonly failed: boolean } | null> {
  const takenAt = performance.now();
  const { topic, leaseMs, batch, newestFirst, limits } = handler;
  const limit = keys?.length ?? batch ?? 1;
  const entries = await deps.outbox.take({
    ...{ topic, leaseMs, limit },
    ...(newestFirst === true ? { newestFirst } : {}),
    ...(keys === undefined ? {} : { keys }),
  });
  if (entries.length === 0) return null;
  deps.failpoint?.('outbox-taken', formatEntryNames(entries));
  const isWorn = ({ attempts }: OutboxEntry) => limits !== null && attempts > limits.attempts;
  for (const entry of entries.filter(isWorn))
    await giveUp(entry, `Stopped after ${limits?.attempts} attempts that did not finish.`, deps);
  const rest = entries.filter((entry) => !isWorn(entry));
  const run = { handler, deps, lease: { takenAt, leaseMs, signal } };
  return { failed: rest.length > 0 && !(await handle(rest, run)) };
}

interface Run {
  readonly handler: OutboxHandler;
  readonly deps: OutboxDeps;
  readonly lease: Parameters<OutboxHandler['handle']>[1];
}

/**
 * Throws only where the database cannot be asked; the entries are then found again when their lease is over.
 */
async function handle(entries: readonly OutboxEntry[], run: Run): Promise<boolean> {
  const { handler, deps, lease } = run;
  const end = await handler
    .handle(entries, lease)
    .catch((error: unknown) => ({ error, failed: true as const }));
  if (end === null) return true;
  if ('failed' in end) return await recover(entries, end.error, run);
  deps.failpoint?.('outbox-handled', formatEntryNames(entries));
  for (const entry of entries) {
    if (await deps.outbox.finish(entry, end)) continue;
    deps.logger.warn(
      { topic: entry.topic, key: entry.key },
      'another process took over an outbox entry that was being processed',
    );
  }
  deps.failpoint?.('outbox-finished', formatEntryNames(entries));
  return true;
}

/** Processes each entry separately after a permanent error, because one entry may have caused it. */
async function recover(entries: readonly OutboxEntry[], error: unknown, run: Run): Promise<boolean> {
  const { handler, deps, lease } = run;
  if (lease.signal.aborted) {
    // The call may have got through: with a delay the attempt counts, and the next one looks for what it
    // made.
    for (const entry of entries) await deps.outbox.release(entry, 'The process stopped.', 1);
    return false;
  }
  if (entries.length > 1 && !isRetryable(error)) {
    const each: boolean[] = [];
    for (const entry of entries) each.push(await handle([entry], run));
    return each.every(Boolean);
  }
  const sentence = (await deps.masker.mask(getErrorMessage(error))).text.slice(0, MAX_ERROR_LENGTH);
  for (const entry of entries) {
    if (handler.limits !== null && !(isRetryable(error) && entry.retries < handler.limits.retries))
      await giveUp(entry, sentence, deps, error);
    else await retryLater(entry, sentence, error, run);
  }
  return false;
}

async function retryLater(
  entry: OutboxEntry,
  sentence: string,
  error: unknown,
  { handler, deps }: Run,
): Promise<void> {
  const delayMs = retryDelay(entry.retries, error, handler.longestDelayMs);
  const { topic, key, retries } = entry;
  deps.logger.warn(
    { topic, key, retries, delayMs: Math.round(delayMs), error },
    'an outbox entry could not be processed; it will be retried',
  );
  await deps.outbox.release(entry, sentence, delayMs);
}

async function giveUp(
  entry: OutboxEntry,
  reason: string,
  { outbox, logger }: OutboxDeps,
  error?: unknown,
): Promise<void> {
  const { topic, key, buildId } = entry;
  logger.error(
    { topic, key, buildId, reason, ...(error === undefined ? {} : { error }) },
    'an outbox entry failed permanently',
  );
  await outbox.finish(entry, { outcome: 'failed', error: reason });
}

function formatEntryNames(entries: readonly OutboxEntry[]): string {
  return entries.map(({ topic, key }) => `${topic} ${key}`).join(', ');
}

/**
 * Computes the delay of an entry that was retried `retries` times before, in milliseconds: about 2 s, doubled
 * each time, or longer if the server requested it (Retry-After), at most a day. A random reduction of up to a
 * half spreads the retries of entries that failed together.
 */
export function retryDelay(retries: number, error: unknown, longestMs: number, random?: number): number {
  return computeRetryDelay(retries, error, { longestMs, longestAskedMs: 24 * 3_600_000, random });
}

export interface IndexOutboxDeps extends OutboxDeps {
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
 * Creates the handlers that update the vector index with what reviewers taught. They never give up, however
 * long the index is unavailable.
 */
export function indexHandlers(vectorIndex: VectorIndex): OutboxHandler[] {
  return NAMESPACES.map((namespace) => indexHandler(vectorIndex, namespace));
}

function indexHandler(vectorIndex: VectorIndex, namespace: VectorNamespace): OutboxHandler {
  return {
    topic: `index:${namespace}`,
    // The lease is longer than an index needs for a batch, so that no other process writes the same entries
    // in the meantime.
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

/**
 * Milliseconds for which a person waits until new knowledge is searchable. After that it is written in the
 * background.
 */
const AT_ONCE_MS = 5_000;

/**
 * Writes these entries to the index now, unless another process does. Never throws and never takes long: what
 * could not be written stays in the outbox. Returns `true` if none of them failed.
 */
export async function indexNow(
  { vectorIndex, ...deps }: IndexOutboxDeps,
  namespace: VectorNamespace,
  ids: readonly string[],
): Promise<boolean> {
  const writing = processNow(
    indexHandler(vectorIndex, namespace),
    ids,
    deps,
    new AbortController().signal,
  ).catch((error: unknown) => {
    deps.logger.warn({ error }, 'the outbox could not be read; the index is updated later');
    return false;
  });
  return await Promise.race([writing, sleep(AT_ONCE_MS, false, { ref: false })]);
}
