import { Redis } from 'ioredis';

export interface RedisFacts {
  readonly version: string;
  /** "noeviction" is what a queue needs. */
  readonly maxmemoryPolicy: string;
  /** "master" or "slave". */
  readonly role: string;
}

const CONNECT_MS = 3_000;

/** Asks a Redis server what it is, over a connection of its own. Throws what the driver throws. */
export async function probeRedis(url: string): Promise<RedisFacts> {
  const client = new Redis(url, { lazyConnect: true, connectTimeout: CONNECT_MS, maxRetriesPerRequest: 0, retryStrategy: () => null });
  // What goes wrong is thrown by the call; without a listener it would also end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const facts = factsOf(await client.info());
    return {
      version: facts.get('redis_version') ?? 'unknown',
      maxmemoryPolicy: facts.get('maxmemory_policy') ?? 'unknown',
      role: facts.get('role') ?? 'unknown',
    };
  } finally {
    client.disconnect();
  }
}

function factsOf(info: string): ReadonlyMap<string, string> {
  return new Map(
    info.split('\n').flatMap((line) => {
      const at = line.indexOf(':');
      return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const] : [];
    }),
  );
}
