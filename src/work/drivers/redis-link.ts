import { Redis, type RedisOptions, ReplyError } from 'ioredis';
import { getErrorMessage } from '../../domain/errors.ts';
import { isOlder } from '../../lib/text.ts';
import { computeBackoff } from '../../lib/time.ts';
import type { Logger } from '../../ports/telemetry.ts';

/** The time limit of one command in milliseconds. Enqueuing must never delay the acceptance of a build. */
const COMMAND_MS = 1000;
/** The interval in milliseconds between two checks that Redis responds. */
const HEARTBEAT_MS = 1000;
/**
 * The delays between attempts to connect. They are short, so that the queue works again soon after Redis is
 * back.
 */
const BACKOFF = { firstMs: 100, longestMs: 1000 };
/**
 * The number of milliseconds without data after which a connection with a pending request counts as dead. It
 * is longer than BullMQ's longest blocking read (10 s).
 */
const SILENT_MS = 15_000;

export type RedisLink = ReturnType<typeof openRedisLink>;

/**
 * Opens a connection for short commands in the background, and tracks whether Redis responds. Logs one
 * message when Redis stops responding, and one when it responds again.
 */
export function openRedisLink(url: string, logger: Logger) {
  const client = connect(url, { enableOfflineQueue: false, commandTimeout: COMMAND_MS });
  let reachable = false;
  let reported = false;
  let refused = '';
  const refuse = (message: string) => {
    // OOM, READONLY, NOPERM, …: the sentence after the code differs for each script.
    const [kind = ''] = message.split(' ', 1);
    if (kind !== refused)
      logger.warn({ error: message }, 'Redis refuses messages; workers take pending jobs from the database');
    refused = kind;
  };
  const away = (error: unknown) => {
    reachable = false;
    if (reported) return;
    reported = true;
    logger.warn(
      { error: getErrorMessage(error) },
      'Redis does not answer; builds are accepted, and workers take pending jobs from the database ' +
        'until it is back',
    );
  };
  const suspect = (error: unknown) =>
    error instanceof ReplyError ? refuse(getErrorMessage(error)) : away(error);
  const back = () => {
    if (reported) logger.info({}, 'Redis answers again');
    reachable = true;
    reported = false;
  };
  const beat = async () => {
    if (client.status !== 'ready') return;
    try {
      await client.ping();
      back();
    } catch (error) {
      away(error);
      // The server may have disappeared silently, which a new connection shows. A server that refused a
      // command has responded, so its connection is kept.
      if (client.status === 'ready' && !(error instanceof ReplyError)) client.disconnect(true);
    }
  };
  client.on('ready', () => {
    void beat();
    void checkRedis(client, logger);
  });
  client.on('error', suspect);
  client.on('close', () => away(new Error('the connection was closed')));
  const heartbeat = setInterval(() => void beat(), HEARTBEAT_MS);
  heartbeat.unref();
  return {
    client,
    get reachable(): boolean {
      return reachable && client.status === 'ready';
    },
    /**
     * Handles a failed command: no requests are sent until a heartbeat is answered. A command that Redis
     * refused is logged once.
     */
    suspect,
    /** Records that a command succeeded, so that a later refusal is logged again. */
    trust: () => {
      refused = '';
    },
    close: () => {
      reported = true;
      clearInterval(heartbeat);
      client.disconnect();
    },
  };
}

/** Opens a connection for a worker. Its commands wait while Redis is unavailable. */
export function connectWorker(url: string): Redis {
  return connect(url, { socketTimeout: SILENT_MS });
}

function connect(
  url: string,
  options: Pick<RedisOptions, 'enableOfflineQueue' | 'commandTimeout' | 'socketTimeout'>,
): Redis {
  return new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: 2000,
    retryStrategy: (times) => computeBackoff(BACKOFF, times),
    ...options,
  });
}

/** The oldest version that BullMQ recommends. On older ones, some of its scripts are slower. */
export const OLDEST_REDIS = [6, 2] as const;

/**
 * Warns of a server that may lose messages, and says how to fix it. Nothing is lost in Faultline, but jobs
 * start late.
 */
export async function checkRedis(client: Pick<Redis, 'info'>, logger: Logger): Promise<void> {
  try {
    const facts = parseFacts(await client.info());
    const { redis_version: version = '', maxmemory_policy: policy = 'noeviction' } = facts;
    if (policy !== 'noeviction') {
      logger.warn(
        { policy },
        'Redis may evict jobs when its memory is full; set "maxmemory-policy noeviction" in ' +
          'redis.conf, and immediately with CONFIG SET maxmemory-policy noeviction',
      );
    }
    if (isOlder(version, OLDEST_REDIS))
      logger.warn(
        { version },
        `Redis is older than ${OLDEST_REDIS.join('.')}, which the job queue needs; update it`,
      );
  } catch (error) {
    logger.debug({ error: getErrorMessage(error) }, 'Redis did not report its version');
  }
}

function parseFacts(info: string): Readonly<Record<string, string>> {
  const pairs = info.split('\n').map((line) => line.trim().split(':', 2));
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair.length === 2));
}
