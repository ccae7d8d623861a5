import { setTimeout as delay } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { JobQueue, QueueAdmin } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { countRings, createBullmqAdmin, PRIORITIES, type RingData } from './bullmq-admin.ts';
import { type BullmqWorker, startBullmqWorker } from './bullmq-worker.ts';
import { createDirectHandoff, type DirectHandoff } from './direct-handoff.ts';
import { createHandlerRuns, type HandlerRuns } from './handler-runs.ts';
import { openRedisLink, type RedisLink } from './redis-link.ts';
import { settlesWithin } from './settles-within.ts';

const QUEUE = 'triage';
/** How long the start waits for Redis before it goes on without. */
const FIRST_CONTACT_MS = 2000;
/** How long an aborted handler may take to end before it is left behind. */
const ABORT_GRACE_MS = 2000;
/** How long the last results may take to reach Redis. */
const LAST_WORDS_MS = 1000;
/** BullMQ's own is half a minute: too long for a ring whose process died, or whose handing out Redis did not live to tell. */
const LOCK_MS = 10_000;
const DAY = 24 * 3600;

/** Some eight minutes with the worker's backoff; then the ring is set aside. The job stays owed, so the sweeper rings anew. */
const ATTEMPTS = 20;

const JOB = {
  backoff: { type: 'custom' },
  removeOnComplete: true,
  removeOnFail: { age: 7 * DAY, count: 1000 },
  stackTraceLimit: 1,
} as const;

export interface BullmqQueueOptions {
  /** As redis://[user:password@]host:port[/database], or rediss:// for TLS. */
  readonly url: string;
  /** Start of every key. */
  readonly prefix: string;
  readonly logger: Logger;
  /** Tries before a ring is given up. */
  readonly attempts?: number;
  /** How long a ring stays with a process that says nothing more, in milliseconds. */
  readonly lockMs?: number;
}

/**
 * The doorbell on Redis, by BullMQ. It opens whether or not Redis answers. While it does not, a process that works hands
 * what it is asked to ring for straight to its own handler, within the same limit of runs; one that does not work throws
 * a retryable `upstream-failed` within about a second.
 */
export async function createBullmqQueue(options: BullmqQueueOptions): Promise<JobQueue & QueueAdmin> {
  const { url, prefix, logger, attempts = ATTEMPTS, lockMs = LOCK_MS } = options;
  const link = openRedisLink(url, logger);
  const queue = openQueue(link, prefix, attempts);
  queue.on('error', (error) => logger.debug({ error: messageOf(error) }, 'job queue reported an error'));
  await firstContact(link);
  let working: Working | null = null;
  let stopping: Promise<void> | null = null;

  const enqueue: JobQueue['enqueue'] = async (jobId, { priority = 'normal' } = {}) => {
    if (stopping !== null) return;
    try {
      return await ring(queue, link, jobId, priority);
    } catch (error) {
      if (working === null) throw error;
      working.door.take(jobId);
    }
  };

  return {
    driver: 'bullmq',
    enqueue,
    work: async (handler, { concurrency }) => {
      const runs = createHandlerRuns(handler, concurrency, logger);
      const worker = startBullmqWorker({ url, prefix, name: QUEUE, runs, concurrency, logger, link, lockMs });
      working = { runs, worker, door: createDirectHandoff(runs, logger) };
    },
    depth: async () => (working?.door.depth ?? 0) + (await asked(link, () => countRings(queue))),
    stop: ({ timeoutMs }) => {
      stopping ??= stopAll(queue, link, working, timeoutMs);
      return stopping;
    },
    ...createBullmqAdmin(queue, (ask) => asked(link, ask), enqueue),
  };
}

interface Working {
  readonly runs: HandlerRuns;
  readonly worker: BullmqWorker;
  readonly door: DirectHandoff;
}

function openQueue(link: RedisLink, prefix: string, attempts: number): Queue<RingData> {
  // The link checks the version itself: BullMQ would do so once, and stay broken where Redis happened not to answer then.
  return new Queue<RingData>(QUEUE, {
    connection: link.client,
    prefix,
    defaultJobOptions: { ...JOB, attempts },
    skipVersionCheck: true,
    skipWaitingForReady: true,
    skipMetasUpdate: true,
  });
}

async function firstContact(link: RedisLink): Promise<void> {
  const end = performance.now() + FIRST_CONTACT_MS;
  while (!link.reachable && performance.now() < end) await delay(10);
}

/** One ring for each job that waits; one that comes while the job runs is kept until it ended. */
async function ring(queue: Queue<RingData>, link: RedisLink, jobId: string, priority: keyof typeof PRIORITIES): Promise<void> {
  const deduplication = { id: jobId, keepLastIfActive: true };
  await asked(link, () => queue.add('ring', { jobId }, { priority: PRIORITIES[priority], deduplication }));
}

/** Asks Redis where it answers; throws at once where it is known not to. */
async function asked<Answer>(link: RedisLink, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    if (!link.reachable) throw new Error('there is no connection');
    const answer = await ask();
    link.trust();
    return answer;
  } catch (error) {
    link.suspect(error);
    throw new TriageError('upstream-failed', `Redis is not available to the job queue: ${messageOf(error)}`, {
      retryable: true,
      cause: error,
    });
  }
}

async function stopAll(queue: Queue<RingData>, link: RedisLink, working: Working | null, timeoutMs: number): Promise<void> {
  if (working !== null) {
    const { runs, worker, door } = working;
    door.close();
    const closed = worker.close();
    const drained = runs.drain();
    if (!(await settlesWithin(drained, timeoutMs))) {
      runs.abort(new TriageError('cancelled', 'The queue is stopping'));
      await settlesWithin(drained, ABORT_GRACE_MS);
    }
    await settlesWithin(closed, link.reachable ? LAST_WORDS_MS : 0);
    worker.disconnect();
  }
  await settlesWithin(queue.close(), LAST_WORDS_MS);
  link.close();
}
