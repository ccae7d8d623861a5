import { setTimeout as delay } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { TRIAGE } from '../../domain/work.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { Wakeable, WakeUp } from '../../ports/work.ts';
import { connectWorker, openRedisLink, type RedisLink } from './redis-link.ts';

/** The number of milliseconds that startup waits for Redis before it continues without it. */
const CONNECT_TIMEOUT_MS = 2000;
/** The number of milliseconds that a stop waits for the last results to reach Redis. */
const SHUTDOWN_GRACE_MS = 1000;
/**
 * The duration of a lock in milliseconds. BullMQ's default of half a minute is too long for a job whose
 * process died, or that Redis handed out just before it failed.
 */
const LOCK_MS = 10_000;

export interface BullmqWakeUpOptions {
  /** The address in the form redis://[user:password@]host:port[/database], or rediss:// for TLS. */
  readonly url: string;
  /** The prefix of every key. */
  readonly prefix: string;
  readonly logger: Logger;
  /** The number of jobs that run at once in this process. */
  readonly concurrency: number;
  /** Returns the rank of an item among the waiting ones. The lowest is processed first. */
  readonly rank: (topic: string, key: string) => Promise<number>;
  /** The number of milliseconds for which a job stays with an unresponsive process. */
  readonly lockMs?: number;
}

/**
 * Creates wake-ups through Redis with BullMQ: a job named after the build brings its triage to a worker, and
 * is active while the worker runs it. Opens whether or not Redis responds. During an outage, workers check
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

/**
 * The options of jobs. A job holds nothing that could be lost: retries are in the database, which workers
 * check, too.
 */
const JOB = { attempts: 1, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 1 } as const;

function openQueue(link: RedisLink, prefix: string): Queue {
  // The link checks the version. BullMQ would check it only once, and stay broken if Redis did not answer at
  // that time.
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
 * Adds the job of a build, or changes the rank of its waiting job. A job that is added while the build's job
 * runs is kept until that one ends.
 */
async function add(queue: Queue, key: string, rank: number): Promise<void> {
  const deduplication = { id: key, keepLastIfActive: true };
  const job = await queue.add(key, {}, { priority: rank, deduplication });
  // The job may have ended since then.
  await job.changePriority({ priority: rank }).catch(() => undefined);
}

const LIVE = ['waiting', 'prioritized', 'active', 'delayed'] as const;

async function countJobs(queue: Queue): Promise<number> {
  const counts = await queue.getJobCounts(...LIVE);
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Sends a request to Redis. Throws at once if Redis is known to be unavailable. */
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
    // BullMQ would drop a job after its second crash. Here, crashes are counted in the database.
    maxStalledCount: 1000,
    // The delay between two attempts to report to Redis how a job ended.
    runRetryDelay: 1000,
    skipVersionCheck: true,
    skipWaitingForReady: true,
  });
  worker.on('error', (error) => {
    // The link has already logged that Redis is unavailable.
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
      // BullMQ fetches further jobs only when one ends or when it resumes.
      if (isMore && closed === undefined) void worker.pause(true).then(() => worker.resume());
    },
    close: async () => {
      await waitAtMost(stop(), link.reachable ? SHUTDOWN_GRACE_MS : 0);
      connections.disconnect();
    },
  };
}

/**
 * Tracks the connections that BullMQ duplicates from the first one, so that all of them can be closed if
 * BullMQ fails to.
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

/** Waits until the work has ended, successfully or not, or the time is over. */
async function waitAtMost(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const timer = new AbortController();
  const late = delay(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([work.catch(() => undefined), late]);
  timer.abort();
}
