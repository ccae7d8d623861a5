import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Config } from '../config/schema.ts';
import type { SessionService } from '../console/console-deps.ts';
import {
  AccessToken,
  checkNewToken,
  digestOfToken,
  isTokenForm,
  makeToken,
  NewToken,
  type RouteAccess,
} from '../domain/access.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { holds, type Principal, type Role } from '../domain/review.ts';
import type { Clock } from '../lib/time.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { SessionHolder, SessionStore, TokenStore } from '../stores/access.ts';
import { DOCS_ACCESS, DOCS_PATH } from './api-description.ts';
import { type ApiApp, found, route } from './route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The access rule of the route. The server does not start if a route has none. */
    access?: RouteAccess;
    /**
     * True for a page for people. Such a page accepts a session cookie if no token is sent, and shows errors
     * as pages.
     */
    console?: true;
  }
  interface FastifyInstance {
    /** Every route with its access rule, in the order of registration. */
    routeAccess: readonly { readonly method: string; readonly url: string; readonly access: RouteAccess }[];
  }
  interface FastifyRequest {
    /** The holder of the token. Null on routes that need no token. */
    principal: Principal | null;
  }
}

/** The sources of the caller's identity: a token or, for page requests, a session. */
interface AccessDeps {
  readonly holders: TokenHolders;
  readonly sessions: Pick<SessionService, 'find'>;
  /** Counts the request. Throws if its sender makes too many requests. */
  readonly count: (request: FastifyRequest) => Promise<void>;
  /** Milliseconds between permission checks of an open event stream; 5 s by default. */
  readonly lookAgainMs?: number;
}

const LOOK_AGAIN_MS = 5_000;

/**
 * Denies access by default: every route must declare its access at startup, and it is enforced before the
 * body is read.
 */
export function enforceAccess(
  app: ApiApp,
  { holders, sessions, count, lookAgainMs = LOOK_AGAIN_MS }: AccessDeps,
): void {
  const table: { method: string; url: string; access: RouteAccess }[] = [];
  app.decorate('routeAccess', table);
  app.decorateRequest('principal', null);
  app.addHook('onRoute', (route) => {
    const access = route.config?.access ?? (isDocs(route.url) ? DOCS_ACCESS : undefined);
    if (access === undefined)
      throw new TriageError(
        'invalid-config',
        `The route ${String(route.method)} ${route.url} does not declare config.access.`,
      );
    route.config = { ...route.config, access };
    for (const method of [route.method].flat()) table.push({ method, url: route.url, access });
  });
  const find = async (request: FastifyRequest): Promise<Principal> => {
    const { authorization } = request.headers;
    const bySession = request.routeOptions.config.console === true && authorization === undefined;
    return bySession ? await sessions.find(request) : await holders.find(authorization);
  };
  app.addHook('onRequest', async (request) => {
    const role = roleFor(request);
    if (role === null) return;
    request.principal = await find(request);
    await count(request);
    requireRole(request.principal, role);
  });
  // An event stream ends soon after its reader loses access.
  app.addHook('onSend', async (request, reply, payload) => {
    const role = roleFor(request);
    if (
      role === null ||
      !(payload instanceof Readable) ||
      !String(reply.getHeader('content-type')).startsWith('text/event-stream')
    )
      return;
    const timer = setInterval(() => {
      find(request)
        .then((principal) => requireRole(principal, role))
        .catch((error: unknown) => {
          if (
            error instanceof TriageError &&
            (error.code === 'unauthenticated' || error.code === 'forbidden')
          )
            payload.destroy();
        });
    }, lookAgainMs);
    payload.once('close', () => clearInterval(timer));
  });
}

/** Returns null if the route requires no authentication. */
function roleFor(request: FastifyRequest): Role | null {
  const access: RouteAccess | undefined = request.routeOptions.config.access;
  return access === undefined || 'open' in access || 'signature' in access ? null : access.role;
}

function requireRole(principal: Principal, role: Role): void {
  if (!holds(principal, role)) throw lacksRole(principal, role);
}

function isDocs(url: string): boolean {
  return url === DOCS_PATH || url.startsWith(`${DOCS_PATH}/`);
}

function lacksRole(principal: Principal, role: Role): TriageError {
  return new TriageError(
    'forbidden',
    `${principal.name} does not have permission: this needs the role "${role}".`,
    {
      details: { principal: principal.name },
    },
  );
}

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
/** Limit of cached lookups. For tokens that do not exist, only the last few entries matter. */
const MAX_KEPT = 5_000;

interface HolderDeps {
  readonly configured: Config['auth']['tokens'];
  readonly tokens: Pick<TokenStore, 'findByDigest' | 'touch'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

type TokenHolders = ReturnType<typeof createTokenHolders>;
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
    const own = holderAmong(known, digestOfToken(token));
    if (own !== null) return own;
    const found = isTokenForm(token) ? await look(digestOfToken(token)) : null;
    if (found === null)
      throw refused(
        'is invalid. Create tokens with `faultline token make`, or configure them in FAULTLINE_TOKENS',
      );
    if (found.state !== 'valid')
      throw refused(`"${found.token.name}" ${found.state === 'expired' ? 'has expired' : 'was revoked'}`);
    touch(found.token.id);
    return toPrincipal(found.token);
  };

  return {
    /**
     * Returns the holder of the token in this `Authorization` header. Throws `unauthenticated`, or
     * `storage-failed` if the database cannot be queried.
     */
    find: async (authorization: string | undefined): Promise<Principal> =>
      await identify(tokenIn(authorization)),
    /**
     * Returns the holder of this token, under the name of the configured or created token, and the digest by
     * which `findByDigest` recognizes the token. Throws as `find` does.
     */
    show: async (token: string) => ({ principal: await identify(token), digest: digestOfToken(token) }),
    /**
     * Returns the current holder of the token with this digest. Returns null if the token was revoked, has
     * expired, or is no longer configured.
     */
    findByDigest: async (digest: string): Promise<Principal | null> => {
      const own = holderAmong(known, digest);
      if (own !== null) return own;
      const found = await look(digest);
      if (found === null || found.state !== 'valid') return null;
      touch(found.token.id);
      return toPrincipal(found.token);
    },
    /** Clears the cached lookups, after a token was revoked in this process. */
    forget: () => kept.clear(),
  };
}

function toPrincipal({ name, roles, repositories }: AccessToken): Principal {
  return { name, roles, repositories };
}

function tokenIn(authorization: string | undefined): string {
  const token = /^Bearer ([\x21-\x7e]{1,1000})$/i.exec(authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new TriageError(
    'unauthenticated',
    'A token is required. Send the header "Authorization: Bearer <token>".',
  );
}

/** Compares with every configured token in constant time; digests make the lengths equal. */
function holderAmong(
  known: readonly { readonly principal: Principal; readonly digest: Buffer }[],
  shown: string,
): Principal | null {
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

/** The lifetime of a session: a working day and a long evening (UX: 12 h). */
const LIFE_MS = 12 * 60 * 60 * 1000;
/**
 * The cookie name for HTTPS. Browsers accept a cookie with this prefix only with Secure, Path=/ and no
 * Domain, so that no neighboring site can set one.
 */
const SECURE_NAME = '__Host-fl';
/**
 * The cookie name for an installation that is reached over plain HTTP by a host name other than localhost,
 * where browsers refuse Secure cookies.
 */
const PLAIN_NAME = 'fl';
const REMEMBERED_S = 600;
const FORM = /^[\w-]{43}$/;

/** Sessions of the console, held by a cookie that scripts cannot read. */
export function createSessions(
  store: SessionStore,
  holders: TokenHolders,
  publicUrl: string | null = null,
): SessionService {
  const address = publicUrl === null ? null : new URL(publicUrl);
  const secureHost = address?.protocol === 'https:' ? address.host : null;
  const nameFor = ({ protocol, host, hostname }: FastifyRequest): string =>
    protocol === 'https' || host === secureHost || isLocal(hostname) ? SECURE_NAME : PLAIN_NAME;
  const cookieIn = (request: FastifyRequest, suffix = ''): string | undefined =>
    parseCookie(request.headers.cookie ?? '')[`${nameFor(request)}${suffix}`];
  const sessionIn = (request: FastifyRequest): string | null => {
    const found = cookieIn(request);
    return found !== undefined && FORM.test(found) ? found : null;
  };
  const cookie = (request: FastifyRequest, value: string, maxAge: number, suffix = ''): string => {
    const name = nameFor(request);
    const secure = name === SECURE_NAME;
    return stringifySetCookie({
      name: `${name}${suffix}`,
      value,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure,
      maxAge,
    });
  };
  const start = async (request: FastifyRequest, holder: SessionHolder) => {
    const before = sessionIn(request);
    if (before !== null) await store.end(hashSessionId(before));
    const id = randomBytes(32).toString('base64url');
    await store.begin(hashSessionId(id), holder, LIFE_MS);
    return cookie(request, id, LIFE_MS / 1000);
  };
  return {
    find: async (request) => {
      const id = sessionIn(request);
      const holder = id === null ? null : await store.find(hashSessionId(id));
      if (holder === null) throw signedOut();
      const principal =
        'principal' in holder ? holder.principal : await holders.findByDigest(holder.tokenDigest);
      if (principal === null) throw signedOut();
      return principal;
    },
    exchange: async (request, token) => {
      const { principal, digest } = await holders.show(token);
      return { principal, cookie: await start(request, { tokenDigest: digest }) };
    },
    begin: async (request, principal) => await start(request, { principal }),
    end: async (request) => {
      const id = sessionIn(request);
      if (id !== null) await store.end(hashSessionId(id));
      return cookie(request, '', 0);
    },
    remember: (request, text) =>
      cookie(request, Buffer.from(text).toString('base64url'), text === '' ? 0 : REMEMBERED_S, '-begun'),
    remembered: (request) => {
      const kept = cookieIn(request, '-begun');
      return kept === undefined || kept === '' ? null : Buffer.from(kept, 'base64url').toString('utf8');
    },
  };
}

function signedOut(): TriageError {
  return new TriageError('unauthenticated', 'You are not signed in.');
}

function isLocal(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]' || hostname === '::1';
}

/**
 * Hashes a session id with SHA-256. The cookie has 256 random bits, so a slow hash would add no protection.
 */
function hashSessionId(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

interface TokenRouteDeps {
  readonly tokens: TokenStore;
  /** Names of configured tokens, which a new token must not have. */
  readonly configuredNames: readonly string[];
  /** Runs after a token was revoked. */
  readonly onRevoked: () => void;
  readonly logger: Logger;
}

const Params = z.object({ id: z.string().min(1).max(300).describe('ID or name of the token') });
const Made = z.object({ token: z.string().describe('Returned only once.'), made: AccessToken });

/** Registers the routes that create, list, and revoke bearer tokens, for administrators only. */
export function registerTokenRoutes(
  app: ApiApp,
  { tokens, configuredNames, onRevoked, logger }: TokenRouteDeps,
): void {
  app.post(
    '/api/tokens',
    route('admin', 'Tokens', 'createToken', 'Create a token', { body: NewToken, response: { 201: Made } }),
    async ({ body, principal }, reply) => {
      checkNewToken(body, configuredNames);
      const token = makeToken();
      const made = await tokens.keep({
        ...body,
        digest: digestOfToken(token),
        createdBy: readPrincipalName(principal),
      });
      logger.info(
        { tokenId: made.id, name: made.name, roles: made.roles, by: made.createdBy },
        'token created',
      );
      return reply.code(201).send({ token, made });
    },
  );
  app.get(
    '/api/tokens',
    route('admin', 'Tokens', 'listTokens', 'List the newest 200 tokens', {
      response: { 200: z.object({ items: z.array(AccessToken) }) },
    }),
    async () => ({ items: await tokens.list() }),
  );
  app.delete(
    '/api/tokens/:id',
    route('admin', 'Tokens', 'revokeToken', 'Revoke a token', {
      params: Params,
      response: { 200: AccessToken },
    }),
    async ({ params: { id }, principal }) => {
      const revoked = found(await tokens.revoke(id, readPrincipalName(principal)), `active token ${id}`);
      onRevoked();
      logger.info(
        { tokenId: revoked.id, name: revoked.name, by: readPrincipalName(principal) },
        'token revoked',
      );
      return revoked;
    },
  );
}

function readPrincipalName(principal: Principal | null): string {
  return principal?.name ?? 'unknown';
}
