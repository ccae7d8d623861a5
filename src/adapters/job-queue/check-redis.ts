import type { Redis } from 'ioredis';
import { messageOf } from '../../domain/errors.ts';
import type { Logger } from '../../ports/telemetry.ts';

/** What BullMQ recommends; below it some of its scripts take slower ways. */
const OLDEST = [6, 2] as const;

/** Warns of a server that forgets rings, and says how to mend it. Nothing is lost there, but rings come late. */
export async function checkRedis(client: Pick<Redis, 'info'>, logger: Logger): Promise<void> {
  try {
    const facts = factsOf(await client.info());
    const { redis_version: version = '', maxmemory_policy: policy = 'noeviction' } = facts;
    if (policy !== 'noeviction') {
      logger.warn(
        { policy },
        'Redis may evict jobs when its memory is full; set "maxmemory-policy noeviction" in redis.conf, and immediately with CONFIG SET maxmemory-policy noeviction',
      );
    }
    if (isOlder(version)) logger.warn({ version }, `Redis is older than ${OLDEST.join('.')}, which the job queue needs; update it`);
  } catch (error) {
    logger.debug({ error: messageOf(error) }, 'Redis did not report its version');
  }
}

function factsOf(info: string): Readonly<Record<string, string>> {
  const pairs = info.split('\n').map((line) => line.trim().split(':', 2));
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair.length === 2));
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (version === '' || Number.isNaN(major)) return false;
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}
