import { setTimeout as delay } from 'node:timers/promises';
import { type Job, Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/collections.ts';
import { computeBackoff } from '../../lib/time.ts';
import type { JobQueue, QueueAdmin, QueueMessage } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { createHandlerRuns, type HandlerRuns, settlesWithin } from './handler-runs.ts';
import { connectWorker, openRedisLink, type RedisLink } from './redis-link.ts';

const QUEUE = 'triage';
/** Milliseconds that startup waits for Redis before it continues without it. */
const FIRST_CONTACT_MS = 2000;
/** Milliseconds that an aborted handler may take to end before it is abandoned. */
const ABORT_GRACE_MS = 2000;
/** Milliseconds that the last results may take to reach Redis. */
const LAST_WORDS_MS = 1000;
/**
 * BullMQ's own is half a minute: too long for a message whose process died, or that Redis handed out just
 * before it failed.
 */
const LOCK_MS = 10_000;
const DAY = 24 * 3600;

/**
 * These take about eight minutes with the worker's backoff; then the message is set aside. The job stays
 * pending, so the sweeper queues it again.
 */
const ATTEMPTS = 20;

const JOB = {
  backoff: { type: 'custom' },
  removeOnComplete: true,
  removeOnFail: { age: 7 * DAY, count: 1000 },
  stackTraceLimit: 1,
} as const;

export interface BullmqQueueOptions {
  /** The address in the form redis://[user:password@]host:port[/database], or rediss:// for TLS. */
  readonly url: string;
  /** Start of every key. */
  readonly prefix: string;
  readonly logger: Logger;
  /** Tries before a message is given up. */
  readonly attempts?: number;
  /** Milliseconds for which a message stays with a process that has stopped responding. */
  readonly lockMs?: number;
}

/**
 * Creates the queue on Redis with BullMQ. It opens whether or not Redis responds. During an outage, a process
 * with workers hands new jobs directly to its own handler, within the same concurrency limit; a process
 * without workers throws a retryable `upstream-failed` within about a second.
 */
export async function createBullmqQueue(options: BullmqQueueOptions): Promise<JobQueue & QueueAdmin> {
  const { url, prefix, logger, attempts = ATTEMPTS, lockMs = LOCK_MS } = options;
  const link = openRedisLink(url, logger);
  const queue = openQueue(link, prefix, attempts);
  queue.on('error', (error) =>
    logger.debug({ error: getErrorMessage(error) }, 'job queue reported an error'),
  );
  await firstContact(link);
  let working: Working | null = null;
  let stopping: Promise<void> | null = null;

  const enqueue: JobQueue['enqueue'] = async (jobId, { priority = 'normal' } = {}) => {
    if (stopping !== null) return;
    try {
      return await add(queue, link, jobId, priority);
    } catch (error) {
      if (working === null) throw error;
      working.direct.take(jobId);
    }
  };

  return {
    driver: 'bullmq',
    enqueue,
    work: async (handler, { concurrency }) => {
      const runs = createHandlerRuns(handler, concurrency, logger);
      const worker = startWorker({ url, prefix, runs, concurrency, logger, link, lockMs });
      working = { runs, worker, direct: createDirectHandoff(runs, logger) };
    },
    depth: async () => (working?.direct.depth ?? 0) + (await asked(link, () => countMessages(queue))),
    stop: ({ timeoutMs }) => {
      stopping ??= stopAll(queue, link, working, timeoutMs);
      return stopping;
    },
    ...createBullmqAdmin(queue, (ask) => asked(link, ask), enqueue),
  };
}

interface Working {
  readonly runs: HandlerRuns;
  readonly worker: ReturnType<typeof startWorker>;
  readonly direct: ReturnType<typeof createDirectHandoff>;
}

function openQueue(link: RedisLink, prefix: string, attempts: number): Queue<MessageData> {
  // The link checks the version itself: BullMQ would do so once, and stay broken if Redis happened not to
  // answer then.
  return new Queue<MessageData>(QUEUE, {
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

/**
 * Adds a message. Only one message waits for each job; a message that arrives while the job runs is kept
 * until the run ends.
 */
async function add(
  queue: Queue<MessageData>,
  link: RedisLink,
  jobId: string,
  priority: keyof typeof PRIORITIES,
): Promise<void> {
  const deduplication = { id: jobId, keepLastIfActive: true };
  await asked(link, () => queue.add('triage', { jobId }, { priority: PRIORITIES[priority], deduplication }));
}

/** Sends a request to Redis. Throws at once if Redis is known not to answer. */
async function asked<Answer>(link: RedisLink, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    if (!link.reachable) throw new Error('there is no connection');
    const answer = await ask();
    link.trust();
    return answer;
  } catch (error) {
    link.suspect(error);
    throw new TriageError(
      'upstream-failed',
      `Redis is not available to the job queue: ${getErrorMessage(error)}`,
      {
        retryable: true,
        cause: error,
      },
    );
  }
}

async function stopAll(
  queue: Queue<MessageData>,
  link: RedisLink,
  working: Working | null,
  timeoutMs: number,
): Promise<void> {
  if (working !== null) {
    const { runs, worker, direct } = working;
    direct.close();
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

const BACKOFF = { firstMs: 1_000, longestMs: 30_000 };

const WORKER_OPTIONS = {
  // BullMQ would bury a job on its second crash. How often a job may take its process down is counted in the
  // database.
  maxStalledCount: 1000,
  // Between two tries to report to Redis how a job ended.
  runRetryDelay: 1000,
};

interface WorkerOptions extends Pick<Required<BullmqQueueOptions>, 'url' | 'prefix' | 'logger' | 'lockMs'> {
  readonly runs: HandlerRuns;
  readonly concurrency: number;
  readonly link: Pick<RedisLink, 'reachable'>;
}

/**
 * Starts the BullMQ worker of this process. A message that is not renewed for `lockMs` is delivered again
 * after at most one and a half times as long. A value that is too short does no harm: the lease in the
 * database decides who may work on a job.
 */
function startWorker({ url, prefix, runs, concurrency, logger, link, lockMs }: WorkerOptions) {
  const connections = tracked(connectWorker(url));
  const worker = new Worker<MessageData>(QUEUE, ({ data }) => runs.run(data.jobId), {
    connection: connections.first,
    prefix,
    concurrency,
    lockDuration: lockMs,
    lockRenewTime: lockMs / 3,
    stalledInterval: lockMs / 2,
    ...WORKER_OPTIONS,
    skipVersionCheck: true,
    skipWaitingForReady: true,
    settings: { backoffStrategy },
  });
  worker.on('error', (error) => {
    // The link has said already that Redis is away.
    if (link.reachable)
      logger.warn(
        { error: getErrorMessage(error) },
        'the job queue could not store a message; its job stays pending',
      );
  });
  worker.on('stalled', (message) =>
    logger.warn({ message }, 'a queue message whose process died is delivered again'),
  );
  worker.on('failed', (message, error) => {
    if (message !== undefined && message.attemptsMade >= (message.opts.attempts ?? 1)) {
      logger.error(
        { jobId: message.data.jobId, error },
        'a queue message was dropped after its last try; its job stays pending',
      );
    }
  });
  return {
    /** Takes no more messages; resolves when those it had are reported to Redis. */
    close: () => worker.close(),
    /** Breaks its connections, whatever they wait for. */
    disconnect: connections.disconnect,
  };
}

/**
 * Returns the delay in milliseconds: one second, doubled with each failed try, at most half a minute, with up
 * to half of it random.
 */
function backoffStrategy(attemptsMade: number): number {
  return Math.round(computeBackoff(BACKOFF, Math.max(attemptsMade, 1)));
}

/**
 * Tracks the connections that BullMQ creates by duplicating the first, so that all of them can be closed if
 * it cannot do so itself.
 */
function tracked(first: Redis): { readonly first: Redis; disconnect(): void } {
  const all = [first];
  const duplicate = first.duplicate.bind(first);
  first.duplicate = (options) => {
    const copy = duplicate(options);
    all.push(copy);
    return copy;
  };
  return {
    first,
    disconnect: () => {
      for (const client of all) client.disconnect();
    },
  };
}

interface MessageData {
  readonly jobId: string;
}

/** BullMQ takes what has no priority before what has one. */
const PRIORITIES = { high: 0, normal: 10 } as const;

const LIVE = ['waiting', 'prioritized', 'active', 'delayed'] as const;
/** Maximum number of dead messages that are searched for one job. */
const MOST_DEAD = 1000;

type Ask = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>;

async function countMessages(queue: Queue<MessageData>): Promise<number> {
  const counts = await queue.getJobCounts(...LIVE);
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Creates the admin interface for the messages that Redis keeps. */
function createBullmqAdmin(queue: Queue<MessageData>, asked: Ask, enqueue: JobQueue['enqueue']): QueueAdmin {
  return {
    messages: async (limit) => {
      const messages: QueueMessage[] = [];
      for (const [state, types] of [
        ['running', ['active']],
        ['waiting', ['waiting', 'prioritized']],
        ['later', ['delayed']],
      ] as const) {
        if (messages.length >= limit) break;
        const jobs = await asked(() => queue.getJobs([...types], 0, limit - messages.length - 1, true));
        append(
          messages,
          jobs.map((job) => messageOfJob(job, state)),
        );
      }
      return messages.slice(0, limit);
    },
    dead: async (limit) =>
      (await asked(() => queue.getFailed(0, limit - 1))).map((job) => messageOfJob(job, 'dead')),
    requeue: async (jobId) => {
      const found = (await asked(() => queue.getFailed(0, MOST_DEAD - 1))).filter(
        ({ data }) => data.jobId === jobId,
      );
      if (found.length === 0) return false;
      await enqueue(jobId, { priority: 'high' });
      for (const job of found) await asked(() => job.remove());
      return true;
    },
  };
}

function messageOfJob(job: Job<MessageData>, state: QueueMessage['state']): QueueMessage {
  const at = new Date((state === 'dead' ? job.finishedOn : undefined) ?? job.timestamp).toISOString();
  return { jobId: job.data.jobId, state, tries: job.attemptsMade, at, error: job.failedReason ?? null };
}

/** Creates the fallback for a broken queue: hands jobs directly to the handler of this process. */
function createDirectHandoff(runs: HandlerRuns, logger: Logger) {
  const waiting = new Set<string>();
  let running = 0;
  let pumping = 0;
  const begin = async (jobId: string) => {
    waiting.delete(jobId);
    running += 1;
    // What it failed with is logged by the runs; the job stays pending, and the sweeper hands it in again.
    await runs
      .run(jobId)
      .catch((error: unknown) => logger.debug({ jobId, error }, 'job handed in directly failed'));
    running -= 1;
  };
  const pump = async () => {
    pumping += 1;
    for (const jobId of waiting) await begin(jobId);
    pumping -= 1;
  };
  return {
    /** Hands a job in. A job that is already here and has not begun is not handed in twice. */
    take: (jobId: string) => {
      waiting.add(jobId);
      if (pumping < runs.concurrency) void pump();
    },
    /** Returns the number of jobs that wait or run here. */
    get depth(): number {
      return waiting.size + running;
    },
    /** Drops waiting jobs. They are still pending in the database, so another process will find them. */
    close: () => waiting.clear(),
  };
}
