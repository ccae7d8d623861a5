import { createHash } from 'node:crypto';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { WorkEnd, WorkItem } from '../domain/work.ts';
import { limitTime } from '../lib/resilience.ts';
import type { WorkHandler, WorkLease } from '../ports/work.ts';
import type { Call, Publisher, Sender, Sent } from './channel.ts';

/**
 * The retry policy of a call to another service. The n-th retry after a temporary error waits about 2ⁿ
 * seconds, at most a quarter of an hour, or longer if the other service says so (Retry-After, at most a day).
 * After 100 retries, which take at most about a day, the message is too old to send. Attempts that never
 * ended, for example because the process died, are counted separately. After five of them no more are made,
 * because the call itself may crash the process.
 */
export const OUTWARD = { limits: { attempts: 5, retries: 100 }, longestDelayMs: 15 * 60_000, concurrency: 2 };
/**
 * The length of a lease in time limits: one each for reading, searching for the text, changing it, and
 * creating it if it is gone.
 */
const LEASE_PER_LIMIT = 4;
/** The minimum time between two edits of a text, in milliseconds. */
const PAUSE_MS = 20_000;

export interface SendLimits {
  /** The time limit of one call to the other service, in milliseconds. */
  readonly timeLimitMs: number;
  /**
   * The minimum time between two edits of a text, in milliseconds. Creating it does not count. Default: 20 s.
   */
  readonly pauseMs?: number;
}

/** The text that an entry of the work table requests, with the current facts for it. */
export interface ToSend<Known, To> {
  readonly publisher: Publisher<Known, To>;
  readonly known: Known;
  readonly to: To;
}

const Kept = z.object({ reference: z.string().nullable(), hash: z.string().nullable().default(null) });

/**
 * Creates the handler for texts that are sent to other systems. It reads the current facts, and sends the
 * text unless it is already there. `read` returns the end of an entry that has nothing to send, and null for
 * an entry that it has settled itself.
 */
export function sendHandler<Known, To>(
  topic: string,
  read: (entry: WorkItem) => Promise<ToSend<Known, To> | WorkEnd | null>,
  { timeLimitMs, pauseMs = PAUSE_MS }: SendLimits,
): WorkHandler {
  return {
    topic,
    leaseMs: timeLimitMs * LEASE_PER_LIMIT,
    ...OUTWARD,
    handle: async ([entry], lease) => {
      const found = entry === undefined ? null : await read(entry);
      if (entry === undefined || found === null) return null;
      if (!('publisher' in found)) return found;
      const { reference, hash: previousHash } = Kept.parse(entry.result ?? { reference: null });
      const content = found.publisher.render(found.known);
      const hash = content === null ? null : hashContent(content);
      if (content === null || (reference !== null && hash === previousHash)) return { outcome: 'done' };
      const isRetry = entry.attempts > 1 || entry.retries > 0;
      const call = { to: found.to, key: entry.key, reference, isRetry };
      const sent = await deliver(found.publisher, content, call, { ...lease, timeLimitMs });
      const result = { reference: sent.reference, hash };
      return { outcome: 'done', result, pauseMs: sent.isNew ? 0 : pauseMs };
    },
  };
}

function hashContent(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

/** A call under a lease. */
export interface TimedCall extends WorkLease {
  /** The time limit of one call, in milliseconds. */
  readonly timeLimitMs: number;
}

interface Delivered extends Sent {
  /** True if the text was created now, not changed. */
  readonly isNew: boolean;
}

/**
 * Sends the content. Before a text is created it is searched for, because an attempt whose process died may
 * have created it. A text that a person deleted in the meantime is created again. Each call must end within
 * the lease, so that no other process can make it at the same time.
 */
export async function deliver<Content, To>(
  sender: Sender<Content, To>,
  content: Content,
  call: Omit<Call<To>, 'signal'>,
  timed: TimedCall,
): Promise<Delivered> {
  const send = (reference: string | null) =>
    callInTime(timed, (signal) => sender.send(content, { ...call, reference, signal }));
  const known = call.reference ?? (await find(sender, call, timed));
  if (known !== null) {
    const changed = await send(known).catch(ignoreGone);
    if (changed !== null) return { ...changed, isNew: false };
  }
  return { ...(await send(null)), isNew: true };
}

async function find<To>(
  sender: Sender<never, To>,
  call: Omit<Call<To>, 'signal'>,
  timed: TimedCall,
): Promise<string | null> {
  if (sender.find === undefined) return null;
  const found = await callInTime(timed, async (signal) => sender.find?.({ ...call, signal }));
  return found?.reference ?? null;
}

function ignoreGone(error: unknown): null {
  if (error instanceof TriageError && error.code === 'not-found') return null;
  throw error;
}

/**
 * Makes a call that must end within its limit and its lease. Throws `timeout` and `cancelled`, both of which
 * are temporary, and the errors of the call.
 */
async function callInTime<Result>(
  timed: TimedCall,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { takenAt, leaseMs, timeLimitMs, signal } = timed;
  signal.throwIfAborted();
  if (performance.now() - takenAt > leaseMs - timeLimitMs) {
    throw new TriageError(
      'cancelled',
      'Not enough of the first lease is left for this call; it will be tried again',
      { retryable: true },
    );
  }
  const late = (cause: unknown) =>
    new TriageError('timeout', `No answer within ${timeLimitMs} ms`, { retryable: true, cause });
  return await limitTime({ limitMs: timeLimitMs, late }, (limit) => call(AbortSignal.any([signal, limit])));
}
