import { setTimeout as delay } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { TRIAGE } from '../../domain/work.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { Wakeable, WakeUp } from '../../ports/work.ts';
import { connectWorker, openRedisLink, type RedisLink } from './redis-link.ts';

/** Milliseconds that startup waits for Redis before it continues without it. */
const CONNECT_TIMEOUT_MS = 2000;
/** Milliseconds that the last results may take to reach Redis. */
const SHUTDOWN_GRACE_MS = 1000;
/**
 * The duration of a lock in milliseconds. BullMQ's default of half a minute is too long for a job whose
 * process died, or that Redis handed out just before it failed.
 */
const LOCK_MS = 10_000;

export interface BullmqWakeUpOptions {
  /** The address in the form redis://[user:password@]host:port[/database], or rediss:// for TLS. */
  readonly url: string;
  /** Start of every key. */
  readonly prefix: string;
  readonly logger: Logger;
  /** Jobs that run at once in this process. */
  readonly concurrency: number;
  /** Returns the place of an item among those that wait: the lowest is processed first. */
  readonly rank: (topic: string, key: string) => Promise<number>;
  /** Milliseconds for which a job stays with a process that has stopped responding. */
  readonly lockMs?: number;
}

/**
 * Creates wake-ups through Redis with BullMQ: a job named after the build brings its triage to a worker, and
 * is active while the worker runs it. Opens whether or not Redis responds. During an outage workers look in
 * the database; a process without a worker throws a retryable `upstream-failed` within about a second.
 */
export async function createBullmqWakeUp(options: BullmqWakeUpOptions): Promise<WakeUp> {
  const { url, prefix, logger, rank } = options;
  const link = openRedisLink(url, logger);
  const queue = openQueue(link, prefix);
  queue.on('error', (error) =>
    logger.debug({ error: getErrorMessage(error) }, 'job queue reported an error'),
  );
  await waitForContact(link);
  let started: { readonly worker: Wakeable; readonly jobs: ReturnType<typeof startJobs> } | null = null;
  let isStopping = false;

  return {
    driver: 'bullmq',
    wake: async (topic, key) => {
      if (isStopping) return;
      try {
        const place = link.reachable ? await rank(topic, key) : 0;
        await ask(link, () => add(queue, key, place));
      } catch (error) {
        if (started === null) throw error;
        started.worker.look(topic);
      }
    },
    start: (worker) => {
      started = { worker, jobs: startJobs(worker, link, options) };
    },
    brings: (topic) => topic === TRIAGE && link.reachable,
    resize: (_topic, concurrency) => started?.jobs.resize(concurrency),
    depth: async () => await ask(link, () => countJobs(queue)),
    stop: () => {
      isStopping = true;
      started?.jobs.stop();
    },
    close: async () => {
      isStopping = true;
      await started?.jobs.close();
      await waitAtMost(queue.close(), SHUTDOWN_GRACE_MS);
      link.close();
    },
  };
}

/** A job holds nothing that could be lost: the database has the retries, and workers look there too. */
const JOB = { attempts: 1, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 1 } as const;

function openQueue(link: RedisLink, prefix: string): Queue {
  // The link checks the version itself: BullMQ would do so once, and stay broken if Redis happened not to
  // answer then.
  return new Queue(TRIAGE, {
    connection: link.client,
    prefix,
    defaultJobOptions: JOB,
    skipVersionCheck: true,
    skipWaitingForReady: true,
    skipMetasUpdate: true,
  });
}

async function waitForContact(link: RedisLink): Promise<void> {
  const end = performance.now() + CONNECT_TIMEOUT_MS;
  while (!link.reachable && performance.now() < end) await delay(10);
}

/**
 * Adds the job of a build, or gives the one that waits its new place. A job that is added while the build's
 * job runs is kept until that one ends.
 */
async function add(queue: Queue, key: string, rank: number): Promise<void> {
  const deduplication = { id: key, keepLastIfActive: true };
  const job = await queue.add(key, {}, { priority: rank, deduplication });
  // It may have ended in the meantime.
  await job.changePriority({ priority: rank }).catch(() => undefined);
}

const LIVE = ['waiting', 'prioritized', 'active', 'delayed'] as const;

async function countJobs(queue: Queue): Promise<number> {
  const counts = await queue.getJobCounts(...LIVE);
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Sends a request to Redis. Throws at once if Redis is known not to answer. */
async function ask<Answer>(link: RedisLink, request: () => Promise<Answer>): Promise<Answer> {
  try {
    if (!link.reachable) throw new Error('there is no connection');
    const answer = await request();
    link.trust();
    return answer;
  } catch (error) {
    link.suspect(error);
    throw new TriageError(
      'upstream-failed',
      `Redis is not available to the job queue: ${getErrorMessage(error)}`,
      { retryable: true, cause: error },
    );
  }
}

/**
 * Starts the BullMQ worker of this process. A job whose lock is not renewed for `lockMs` is delivered again
 * after at most one and a half times as long. A value that is too short does no harm: the lease in the
 * database decides who may process an item.
 */
function startJobs(receiver: Wakeable, link: RedisLink, options: BullmqWakeUpOptions) {
  const { url, prefix, logger, concurrency, lockMs = LOCK_MS } = options;
  const connections = track(connectWorker(url));
  const worker = new Worker(TRIAGE, ({ name }) => receiver.run(TRIAGE, name), {
    connection: connections.first,
    prefix,
    concurrency,
    lockDuration: lockMs,
    lockRenewTime: lockMs / 3,
    stalledInterval: lockMs / 2,
    // BullMQ would bury a job on its second crash. How often a job may take its process down is counted in
    // the database.
    maxStalledCount: 1000,
    // Between two tries to report to Redis how a job ended.
    runRetryDelay: 1000,
    skipVersionCheck: true,
    skipWaitingForReady: true,
  });
  worker.on('error', (error) => {
    // The link has logged already that Redis is away.
    if (link.reachable) logger.warn({ error: getErrorMessage(error) }, 'the job queue reported an error');
  });
  worker.on('stalled', (job) => logger.warn({ job }, 'a queue job whose process died is delivered again'));
  worker.on('failed', (job, error) =>
    logger.warn({ key: job?.name, error }, 'a triage could not be run; it stays pending'),
  );
  let closed: Promise<void> | undefined;
  const stop = () => {
    closed ??= worker.close();
    return closed;
  };
  return {
    stop: () => void stop(),
    resize: (size: number) => {
      const isMore = size > worker.concurrency;
      worker.concurrency = size;
      // BullMQ looks for more jobs only when one ends, or when it resumes.
      if (isMore && closed === undefined) void worker.pause(true).then(() => worker.resume());
    },
    close: async () => {
      await waitAtMost(stop(), link.reachable ? SHUTDOWN_GRACE_MS : 0);
      connections.disconnect();
    },
  };
}

/**
 * Tracks the connections that BullMQ creates by duplicating the first, so that all of them can be closed if
 * it cannot do so itself.
 */
function track(first: Redis): { readonly first: Redis; disconnect(): void } {
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

/** Waits until the work ended, successfully or not, or the time is over. */
async function waitAtMost(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const timer = new AbortController();
  const late = delay(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([work.catch(() => undefined), late]);
  timer.abort();
}
