import { createHash, randomBytes } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import type { SessionService } from '../console/console-deps.ts';
import { TriageError } from '../domain/errors.ts';
import type { SessionHolder, SessionStore } from '../stores/access.ts';
import type { TokenHolders } from './token-holders.ts';

/** The lifetime of a session in milliseconds. With 12 hours, people sign in once a working day. */
const SESSION_MS = 12 * 60 * 60 * 1000;
/**
 * The cookie name for HTTPS. Browsers accept a cookie with this prefix only with Secure, Path=/ and no
 * Domain, so that other hosts of the same domain cannot set it.
 */
const SECURE_NAME = '__Host-fl';
/**
 * The cookie name for an installation that is reached over plain HTTP, except by localhost or a loopback
 * address. Browsers refuse Secure cookies there.
 */
const PLAIN_NAME = 'fl';
/** The time in which a browser must return from another host, in milliseconds. */
const PENDING_MS = 10 * 60 * 1000;
/** The end of the name of the cookie for what a browser began at another host. */
const PENDING = '-begun';
/** A session ID: 32 random bytes in base64url. */
const SESSION_ID = /^[\w-]{43}$/;

/**
 * Creates the session service of the console. A cookie that scripts cannot read identifies the session.
 */
export function createSessions(
  store: SessionStore,
  holders: TokenHolders,
  publicUrl: string | null = null,
): SessionService {
  const address = publicUrl === null ? null : new URL(publicUrl);
  const secureHost = address?.protocol === 'https:' ? address.host : null;
  const nameFor = ({ protocol, host, hostname }: FastifyRequest): string =>
    protocol === 'https' || host === secureHost || isLocal(hostname) ? SECURE_NAME : PLAIN_NAME;
  const readCookie = (request: FastifyRequest, suffix = ''): string | undefined =>
    parseCookie(request.headers.cookie ?? '')[`${nameFor(request)}${suffix}`];
  const readSessionId = (request: FastifyRequest, suffix = ''): string | null => {
    const found = readCookie(request, suffix);
    return found !== undefined && SESSION_ID.test(found) ? found : null;
  };
  const formatCookie = (request: FastifyRequest, value: string, maxAge: number, suffix = ''): string => {
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
  const replaceSession = async (request: FastifyRequest, holder: SessionHolder) => {
    const before = readSessionId(request);
    if (before !== null) await store.end(hashSessionId(before));
    const id = randomBytes(32).toString('base64url');
    await store.begin(hashSessionId(id), holder, SESSION_MS);
    return formatCookie(request, id, SESSION_MS / 1000);
  };
  return {
    find: async (request) => {
      const id = readSessionId(request);
      const holder = id === null ? null : await store.find(hashSessionId(id));
      if (holder === null) throw createSignedOutError();
      const principal =
        'principal' in holder ? holder.principal : await holders.findByDigest(holder.tokenDigest);
      if (principal === null) throw createSignedOutError();
      return principal;
    },
    exchange: async (request, token) => {
      const { principal, digest } = await holders.show(token);
      return { principal, cookie: await replaceSession(request, { tokenDigest: digest }) };
    },
    begin: async (request, principal) => await replaceSession(request, { principal }),
    end: async (request) => {
      const id = readSessionId(request);
      if (id !== null) await store.end(hashSessionId(id));
      return formatCookie(request, '', 0);
    },
    keepPending: async (request, body) => {
      const id = randomBytes(32).toString('base64url');
      await store.keepPending(hashSessionId(id), body, PENDING_MS);
      return formatCookie(request, id, PENDING_MS / 1000, PENDING);
    },
    findPending: async (request) => {
      const id = readSessionId(request, PENDING);
      return id === null ? null : await store.findPending(hashSessionId(id));
    },
    takePending: async (request) => {
      const id = readSessionId(request, PENDING);
      return id === null ? null : await store.takePending(hashSessionId(id));
    },
  };
}

function createSignedOutError(): TriageError {
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
