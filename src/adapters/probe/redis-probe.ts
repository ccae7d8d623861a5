import { Redis } from 'ioredis';

const CONNECT_MS = 3_000;

/**
 * Asks a Redis server what it is, over a connection of its own: "noeviction" is the policy that a queue needs, the role is "master" or "slave".
 * Throws what the driver throws.
 */
export async function probeRedis(url: string) {
  const client = new Redis(url, { lazyConnect: true, connectTimeout: CONNECT_MS, maxRetriesPerRequest: 0, retryStrategy: () => null });
  // What goes wrong is thrown by the call; without a listener it would also end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const info = await client.info();
    const fact = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? 'unknown';
    return { version: fact('redis_version'), maxmemoryPolicy: fact('maxmemory_policy'), role: fact('role') };
  } finally {
    client.disconnect();
  }
}
