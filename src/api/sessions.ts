import { createHash, randomBytes } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import type { SessionService } from '../console/console-deps.ts';
import { TriageError } from '../domain/errors.ts';
import type { SessionHolder, SessionStore } from '../stores/access.ts';
import type { TokenHolders } from './token-holders.ts';

/** The lifetime of a session, 12 hours: a working day and a long evening. */
const LIFE_MS = 12 * 60 * 60 * 1000;
/**
 * The cookie name for HTTPS. Browsers accept a cookie with this prefix only with Secure, Path=/ and no
 * Domain, so that no other site of the same domain can set one.
 */
const SECURE_NAME = '__Host-fl';
/**
 * The cookie name for an installation that is reached over plain HTTP by a host name other than localhost.
 * Browsers refuse Secure cookies there.
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
      if (holder === null) throw createSignedOutError();
      const principal =
        'principal' in holder ? holder.principal : await holders.findByDigest(holder.tokenDigest);
      if (principal === null) throw createSignedOutError();
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
