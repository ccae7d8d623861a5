import { Redis, type RedisOptions } from 'ioredis';
import { messageOf } from '../../domain/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import { checkRedis } from './check-redis.ts';

/** How long one command may take: an enqueue must never hold up an acceptance. */
const COMMAND_MS = 1000;
/** Between two looks whether Redis still answers. */
const HEARTBEAT_MS = 1000;
/** Longest pause between two attempts to connect, so that the bell works again soon after Redis is back. */
const LONGEST_RETRY_MS = 1000;
/** A connection on which an answer is due but nothing came for so long is dead; above BullMQ's longest blocking read (10 s). */
const SILENT_MS = 15_000;

/** A connection for short commands, and whether anybody answers at its other end. */
export interface RedisLink {
  readonly client: Redis;
  readonly reachable: boolean;
  /** A command failed: nothing more is asked until a heartbeat is answered. */
  suspect(error: unknown): void;
  close(): void;
}

/** Connects in the background. Says once that Redis does not answer, and once that it does again. */
export function openRedisLink(url: string, logger: Logger): RedisLink {
  const client = connect(url, { enableOfflineQueue: false, commandTimeout: COMMAND_MS });
  let reachable = false;
  let told = false;
  const away = (error: unknown) => {
    reachable = false;
    if (told) return;
    told = true;
    logger.warn(
      { error: messageOf(error) },
      'Redis does not answer; builds are accepted, and workers take what is owed from the database until it is back',
    );
  };
  const back = () => {
    if (told) logger.info({}, 'Redis answers again');
    reachable = true;
    told = false;
  };
  const beat = () => {
    if (client.status !== 'ready') return;
    client.ping().then(back, (error: unknown) => {
      away(error);
      // The other end may be gone without a word; a new connection finds out.
      if (client.status === 'ready') client.disconnect(true);
    });
  };
  client.on('ready', () => {
    back();
    void checkRedis(client, logger);
  });
  client.on('error', away);
  client.on('close', () => away(new Error('the connection was closed')));
  const heartbeat = setInterval(beat, HEARTBEAT_MS);
  heartbeat.unref();
  return {
    client,
    get reachable() {
      return reachable && client.status === 'ready';
    },
    suspect: away,
    close: () => {
      told = true;
      clearInterval(heartbeat);
      client.disconnect();
    },
  };
}

/** A connection for a worker, whose commands wait for Redis to come back. */
export function connectWorker(url: string): Redis {
  return connect(url, { socketTimeout: SILENT_MS });
}

function connect(url: string, options: Pick<RedisOptions, 'enableOfflineQueue' | 'commandTimeout' | 'socketTimeout'>): Redis {
  return new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: 2000,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), LONGEST_RETRY_MS),
    ...options,
  });
}
