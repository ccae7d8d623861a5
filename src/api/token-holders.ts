import { timingSafeEqual } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { type AccessToken, digestOfToken, isTokenForm } from '../domain/access.ts';
import { getErrorMessage } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';
import type { Clock } from '../lib/time.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { TokenStore } from '../stores/access.ts';
import { createRefusedError, readToken } from './bearer-token.ts';

/**
 * The time for which a database lookup is cached, in milliseconds. Another process may still accept a revoked
 * token for that long.
 */
const BELIEVED_MS = 5_000;
/**
 * The minimum time between updates of a token's last use, in milliseconds. The database writes it once a
 * minute, so more frequent calls would have no effect.
 */
const TOUCH_MS = 60_000;
/** The maximum number of cached lookups. Of tokens that do not exist, only the last few matter. */
const MAX_KEPT = 5_000;

interface HolderDeps {
  readonly configured: Config['auth']['tokens'];
  readonly tokens: Pick<TokenStore, 'findByDigest' | 'touch'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type TokenHolders = ReturnType<typeof createTokenHolders>;
type Found = Awaited<ReturnType<TokenStore['findByDigest']>>;

/**
 * Finds the holders of tokens from the configuration and the database. Tokens are never compared with each
 * other. Their digests are looked up, so that timing reveals nothing about a token. Text that does not have
 * the form of a token with its checksum never reaches the database.
 */
export function createTokenHolders({ configured, tokens, clock, logger }: HolderDeps) {
  const known = configured.map(({ name, roles, token }) => ({
    principal: { name, roles },
    digest: Buffer.from(digestOfToken(token), 'hex'),
  }));
  const kept = new Map<string, { readonly found: Found; readonly at: number }>();
  const touched = new Map<string, number>();

  const look = async (digest: string): Promise<Found> => {
    const now = clock.now();
    const before = kept.get(digest);
    if (before !== undefined && Math.abs(now - before.at) < BELIEVED_MS) return before.found;
    const found = await tokens.findByDigest(digest);
    keepNewest(kept, digest, { found, at: now });
    return found;
  };

  const touch = (id: string): void => {
    const now = clock.now();
    if (Math.abs(now - (touched.get(id) ?? -TOUCH_MS)) < TOUCH_MS) return;
    keepNewest(touched, id, now);
    // The last-used time is informational, so the request does not wait for this write.
    tokens
      .touch(id)
      .catch((error: unknown) =>
        logger.debug(
          { tokenId: id, reason: getErrorMessage(error) },
          'the use of a token could not be recorded',
        ),
      );
  };

  const identify = async (token: string): Promise<Principal> => {
    const holder = findHolder(known, digestOfToken(token));
    if (holder !== null) return holder;
    const found = isTokenForm(token) ? await look(digestOfToken(token)) : null;
    if (found === null)
      throw createRefusedError(
        'is invalid. Create tokens with `faultline token make`, or configure them in FAULTLINE_TOKENS',
      );
    if (found.state !== 'valid')
      throw createRefusedError(
        `"${found.token.name}" ${found.state === 'expired' ? 'has expired' : 'was revoked'}`,
      );
    touch(found.token.id);
    return toPrincipal(found.token);
  };

  return {
    /**
     * Returns the holder of the token in this `Authorization` header. Throws `unauthenticated`, or
     * `storage-failed` if the database cannot be queried.
     */
    find: async (authorization: string | undefined): Promise<Principal> =>
      await identify(readToken(authorization)),
    /**
     * Returns the holder of this token, under the name of the configured or created token, and the digest by
     * which `findByDigest` recognizes the token. Throws the same errors as `find`.
     */
    show: async (token: string) => ({ principal: await identify(token), digest: digestOfToken(token) }),
    /**
     * Returns the current holder of the token with this digest. Returns null if the token was revoked, has
     * expired, or is no longer configured.
     */
    findByDigest: async (digest: string): Promise<Principal | null> => {
      const holder = findHolder(known, digest);
      if (holder !== null) return holder;
      const found = await look(digest);
      if (found === null || found.state !== 'valid') return null;
      touch(found.token.id);
      return toPrincipal(found.token);
    },
    /** Clears the cached lookups, after this process has revoked a token. */
    forget: () => kept.clear(),
  };
}

function toPrincipal({ name, roles, repositories }: AccessToken): Principal {
  return { name, roles, repositories };
}

/**
 * Compares with every configured token in constant time. Digests are compared, because they have equal
 * lengths.
 */
function findHolder(
  known: readonly { readonly principal: Principal; readonly digest: Buffer }[],
  token: string,
): Principal | null {
  const digest = Buffer.from(token, 'hex');
  let holder: Principal | null = null;
  for (const candidate of known) if (timingSafeEqual(digest, candidate.digest)) holder = candidate.principal;
  return holder;
}

function keepNewest<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > MAX_KEPT ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
