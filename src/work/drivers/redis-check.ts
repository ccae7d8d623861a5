import { Redis } from 'ioredis';
import { isOlder } from '../../lib/text.ts';
import { type Finding, ok, wrong } from '../../ports/health.ts';
import { OLDEST_REDIS } from './redis-link.ts';

const NAME = 'redis';
const CONNECT_MS = 3_000;

/**
 * Checks over its own connection whether a Redis server has the settings that a queue needs. Throws the
 * errors of the driver.
 */
export async function checkRedisServer(url: string): Promise<Finding> {
  return readInfo(await askInfo(url));
}

async function askInfo(url: string): Promise<string> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // Errors are thrown by the calls. Without a listener, they would also end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.info();
  } finally {
    client.disconnect();
  }
}

function readInfo(info: string): Finding {
  const fact = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? 'unknown';
  const [version, policy] = [fact('redis_version'), fact('maxmemory_policy')];
  if (fact('role') !== 'master')
    return wrong(
      NAME,
      'this is a replica, which accepts no writes',
      'set FAULTLINE_REDIS_URL to the primary',
    );
  if (policy !== 'noeviction')
    return wrong(
      NAME,
      `maxmemory-policy is ${policy}: jobs may be evicted`,
      'set "maxmemory-policy noeviction" in redis.conf, and immediately with CONFIG SET',
    );
  if (isOlder(version, OLDEST_REDIS))
    return wrong(NAME, `version ${version} is too old`, `use Redis ${OLDEST_REDIS.join('.')} or newer`);
  return ok(NAME, `Redis ${version}, ${policy}`);
}
