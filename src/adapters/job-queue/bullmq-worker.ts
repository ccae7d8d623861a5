import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { messageOf } from '../../domain/errors.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { RingData } from './bullmq-admin.ts';
import type { HandlerRuns } from './handler-runs.ts';
import { connectWorker, type RedisLink } from './redis-link.ts';

const LONGEST_BACKOFF_MS = 30_000;

const WORKER_OPTIONS = {
  // BullMQ would bury a job on its second crash. How often a job may take its process down is counted in the database.
  maxStalledCount: 1000,
  // Between two tries to tell Redis how a job ended.
  runRetryDelay: 1000,
};

/** BullMQ's side of a working process. */
export interface BullmqWorker {
  /** Takes no more rings; resolves when those it had are told to Redis. */
  close(): Promise<void>;
  /** Breaks its connections, whatever they wait for. */
  disconnect(): void;
}

export interface BullmqWorkerOptions {
  readonly url: string;
  readonly prefix: string;
  readonly name: string;
  readonly runs: HandlerRuns;
  readonly concurrency: number;
  readonly logger: Logger;
  readonly link: Pick<RedisLink, 'reachable'>;
  /**
   * How long a ring stays with a process that says nothing more, in milliseconds; after at most one and a half times as long it
   * is handed out again. Too short does no harm: who may work on a job is decided by the lease in the database.
   */
  readonly lockMs: number;
}

export function startBullmqWorker({ url, prefix, name, runs, concurrency, logger, link, lockMs }: BullmqWorkerOptions): BullmqWorker {
  const connections = tracked(connectWorker(url));
  const worker = new Worker<RingData>(name, ({ data }) => runs.run(data.jobId), {
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
    if (link.reachable) logger.warn({ error: messageOf(error) }, 'the job queue could not keep a ring; its job stays owed');
  });
  worker.on('stalled', (ring) => logger.warn({ ring }, 'a ring whose process died is handed out again'));
  worker.on('failed', (ring, error) => {
    if (ring !== undefined && ring.attemptsMade >= (ring.opts.attempts ?? 1)) {
      logger.error({ jobId: ring.data.jobId, error }, 'a ring was given up after its last try; its job stays owed');
    }
  });
  return { close: () => worker.close(), disconnect: connections.disconnect };
}

/** One second doubled with each failed try, half a minute at most, of which up to half is left to chance. In milliseconds. */
export function backoffStrategy(attemptsMade: number): number {
  const longest = Math.min(1000 * 2 ** Math.max(attemptsMade - 1, 0), LONGEST_BACKOFF_MS);
  return Math.round(longest * (0.5 + Math.random() / 2));
}

/** BullMQ makes a second connection from the first; both are ours to break when it cannot let go by itself. */
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
