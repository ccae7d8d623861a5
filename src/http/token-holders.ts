import { timingSafeEqual } from 'node:crypto';
import { type AccessToken, digestOfToken, isTokenForm } from '../domain/access.ts';
import { messageOf, TriageError } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';
import type { Clock } from '../lib/time.ts';
import type { TokenStore } from '../ports/access.ts';
import type { Logger } from '../ports/telemetry.ts';

/** How long an answer of the database is believed: so long a revoked token may still be taken by another process. */
const BELIEVED_MS = 5_000;
/** The database writes once a minute; asking it to more often would be for nothing. */
const TOUCH_MS = 60_000;
/** Answers kept at once; of the tokens that nobody made only the last few matter. */
const MAX_KEPT = 5_000;

/** A token from the configuration. */
interface ConfiguredToken {
  readonly name: string;
  readonly roles: Principal['roles'];
  readonly token: string;
}

export interface HolderDeps {
  readonly configured: readonly ConfiguredToken[];
  readonly tokens: Pick<TokenStore, 'findByDigest' | 'touch'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface TokenHolders {
  /** Who shows this `Authorization` header. Throws `unauthenticated`, and `storage-failed` where the database cannot be asked. */
  find(authorization: string | undefined): Promise<Principal>;
  /** Who holds this token, by any configured or made one's name, with the digest by which `findByDigest` knows it again. Throws as `find` does. */
  show(token: string): Promise<{ readonly principal: Principal; readonly digest: string }>;
  /** Who holds the token with this digest now; null where it was revoked, has expired, or is not configured any more. */
  findByDigest(digest: string): Promise<Principal | null>;
  /** Believes nothing of what it was told before: after a token was revoked here. */
  forget(): void;
}

type Found = Awaited<ReturnType<TokenStore['findByDigest']>>;

/**
 * Tokens of the configuration and of the database. A token is never compared with another: its digest is looked up, so that
 * time tells nothing of it. What has not the form of a token with its checksum never reaches the database.
 */
export function createTokenHolders({ configured, tokens, clock, logger }: HolderDeps): TokenHolders {
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
    // When it was used is nice to know; nobody waits for it.
    tokens.touch(id).catch((error: unknown) => logger.debug({ tokenId: id, reason: messageOf(error) }, 'the use of a token was not kept'));
  };

  const identify = async (token: string): Promise<Principal> => {
    const own = holderAmong(known, digestOfToken(token));
    if (own !== null) return own;
    const found = isTokenForm(token) ? await look(digestOfToken(token)) : null;
    if (found === null) throw refused('is invalid. Create tokens with `faultline token make`, or configure them in FAULTLINE_TOKENS');
    if (found.state !== 'valid') throw refused(`"${found.token.name}" ${found.state === 'expired' ? 'has expired' : 'was revoked'}`);
    touch(found.token.id);
    return principalOf(found.token);
  };

  return {
    find: async (authorization) => await identify(tokenIn(authorization)),
    show: async (token) => ({ principal: await identify(token), digest: digestOfToken(token) }),
    findByDigest: async (digest) => {
      const own = holderAmong(known, digest);
      if (own !== null) return own;
      const found = await look(digest);
      if (found === null || found.state !== 'valid') return null;
      touch(found.token.id);
      return principalOf(found.token);
    },
    forget: () => kept.clear(),
  };
}

function principalOf({ name, roles, repositories }: AccessToken): Principal {
  return { name, roles, repositories };
}

function tokenIn(authorization: string | undefined): string {
  const token = /^Bearer ([\x21-\x7e]{1,1000})$/i.exec(authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new TriageError('unauthenticated', 'A token is required. Send the header "Authorization: Bearer <token>".');
}

/** Compares with every configured token in constant time; digests make the lengths equal. */
function holderAmong(known: readonly { readonly principal: Principal; readonly digest: Buffer }[], shown: string): Principal | null {
  const digest = Buffer.from(shown, 'hex');
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

function refused(what: string): TriageError {
  return new TriageError('unauthenticated', `The token ${what}.`);
}
