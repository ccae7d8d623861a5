import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RouteAccess } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import { findMax } from '../lib/collections.ts';
import { createTooManyError } from './refusal.ts';

const MINUTE_MS = 60_000;
/** The number of wrong tokens or signatures per minute and address before the address must wait. */
const WRONG_GUESSES_PER_MINUTE = 30;
/**
 * The number of leading characters of a token by which wrong tokens are counted: the kind of the token and
 * its first few digits. So an attacker who tries the remaining digits from many addresses must wait too.
 */
const GUESSED_PREFIX = 12;
/** The header in which GitHub names the repository, organization or App that the webhook belongs to. */
const GITHUB_TARGET = 'x-github-hook-installation-target-id';
/**
 * The maximum number of senders that are counted at once. Changing names gains a sender nothing, because only
 * signed deliveries count.
 */
const MAX_SOURCES = 5_000;

/**
 * The maximum number of event streams that one holder may have open at once. All holders together have a
 * maximum too.
 */
export const MAX_STREAMS = 50;
const MAX_STREAMS_OF_ALL = 2_000;

export type Limits = ReturnType<typeof createLimits>;

/**
 * Creates the limits that apply in addition to the limit per address. They are per process: behind a load
 * balancer, each of n processes allows the full amount.
 */
export function createLimits(
  app: FastifyInstance,
  { perToken, perSource }: { perToken: number; perSource: number },
) {
  const byAddress = app.createRateLimit({ max: WRONG_GUESSES_PER_MINUTE, timeWindow: MINUTE_MS });
  const formTokens = new WeakMap<FastifyRequest, string>();
  const byPrefix = app.createRateLimit({
    max: WRONG_GUESSES_PER_MINUTE,
    timeWindow: MINUTE_MS,
    keyGenerator: (request) => hashTokenPrefix(request, formTokens.get(request)),
  });
  const byHolder = app.createRateLimit({
    max: perToken,
    timeWindow: MINUTE_MS,
    keyGenerator: ({ principal }) => `token ${principal?.name ?? ''}`,
  });
  limitSources(app, perSource);
  return {
    /**
     * Throws `rate-limited` if the holder of the request's token sends too many requests, from any addresses.
     */
    countHolder: async (request: FastifyRequest) => {
      const counted = await byHolder(request);
      if (!counted.isAllowed && counted.isExceeded)
        throw createTooManyError('Too many requests with this token.', counted.ttl);
    },
    /**
     * Counts a wrong token or signature. Returns how long its sender must wait, in milliseconds, or null
     * below the limit. `token` is that of the sign-in form; without it, the request's header is counted.
     */
    countGuess: async (request: FastifyRequest, token = '') => {
      if (token !== '') formTokens.set(request, token);
      const counted = [await byAddress(request), await byPrefix(request)];
      const waits = counted.map((limit) => (!limit.isAllowed && limit.isExceeded ? limit.ttl : 0));
      return findMax(waits) > 0 ? findMax(waits) : null;
    },
    countStream: countStream(),
  };
}

/**
 * Counts a stream that the caller opens, and returns a function that counts it as closed. Throws
 * `rate-limited` if too many are open.
 */
function countStream() {
  const open = new Map<string, number>();
  let all = 0;
  return ({ principal }: FastifyRequest) => {
    const holder = principal?.name ?? '';
    const openStreams = open.get(holder) ?? 0;
    if (openStreams >= MAX_STREAMS || all >= MAX_STREAMS_OF_ALL) {
      const who = openStreams >= MAX_STREAMS ? `${holder} has ${openStreams}` : `This service has ${all}`;
      throw new TriageError('rate-limited', `${who} live pages open. Close some of them.`, {
        retryable: true,
      });
    }
    open.set(holder, openStreams + 1);
    all += 1;
    return () => {
      const left = (open.get(holder) ?? 1) - 1;
      if (left > 0) open.set(holder, left);
      else open.delete(holder);
      all -= 1;
    };
  };
}

/** Returns a rate limit key. It contains a digest, so that no part of a token is kept. */
function hashTokenPrefix(request: FastifyRequest, formToken: string | undefined): string {
  const authorization = formToken === undefined ? request.headers.authorization : `Bearer ${formToken}`;
  const prefix = (authorization ?? '').slice(0, 'Bearer '.length + GUESSED_PREFIX);
  if (prefix === '') return `address ${request.ip}`;
  return `prefix ${createHash('sha256').update(prefix).digest('hex')}`;
}

/**
 * Counts the accepted deliveries of each webhook sender. A sender that sends too many must wait. Only
 * deliveries with a valid signature count, so no one can use up the quota of another sender with a forged
 * name.
 */
function limitSources(app: FastifyInstance, perMinute: number): void {
  const windows = new Map<string, { readonly from: number; count: number }>();
  const openWindow = (source: string) => {
    const now = Date.now();
    const known = windows.get(source);
    if (known !== undefined && now >= known.from && now - known.from < MINUTE_MS) return known;
    windows.delete(source);
    const oldest = windows.size >= MAX_SOURCES ? windows.keys().next().value : undefined;
    if (oldest !== undefined) windows.delete(oldest);
    const fresh = { from: now, count: 0 };
    windows.set(source, fresh);
    return fresh;
  };
  app.addHook('onRequest', async (request) => {
    const source = identifySender(request);
    const known = source === null ? undefined : windows.get(source);
    if (known === undefined || known.count < perMinute) return;
    const waitMs = known.from + MINUTE_MS - Date.now();
    if (waitMs > 0)
      throw createTooManyError('Too many deliveries from this sender. Deliver them again later.', waitMs);
  });
  app.addHook('onResponse', async (request, reply) => {
    const source = reply.statusCode < 300 ? identifySender(request) : null;
    if (source !== null) openWindow(source).count += 1;
  });
}

/**
 * Identifies the sender of a webhook: GitHub's name for the owner of the hook, or the address for Jenkins.
 * Returns null if the request is not a webhook.
 */
function identifySender(request: FastifyRequest): string | null {
  const access: RouteAccess | undefined = request.routeOptions.config.access;
  if (access === undefined || !('signature' in access)) return null;
  if (access.signature !== 'github') return `${access.signature} ${request.ip}`;
  const target = request.headers[GITHUB_TARGET];
  return typeof target === 'string' ? `github ${target.slice(0, 100)}` : null;
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses (`forbidden`) requests that other sites make a signed-in browser send to the pages, by the rule of
 * Go 1.25's http.CrossOriginProtection. A browser states the origin of a request in `Sec-Fetch-Site`, or in
 * `Origin` if it is older. A client that sends neither is not a browser, and must send a token instead of a
 * cookie.
 */
export function refuseOtherSites(app: FastifyInstance, publicUrl: string | null): void {
  const publicHost = publicUrl === null ? null : new URL(publicUrl).host;
  app.addHook('onRequest', async (request) => {
    if (SAFE_METHODS.has(request.method) || request.routeOptions.config.console !== true) return;
    if (!isOwn(request, publicHost)) {
      throw new TriageError(
        'forbidden',
        'This request came from another site. Open Faultline and do it there.',
      );
    }
  });
}

function isOwn({ headers }: FastifyRequest, publicHost: string | null): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  if (headers.origin !== undefined) {
    const host = URL.canParse(headers.origin) ? new URL(headers.origin).host : null;
    return host !== null && (host === headers.host || host === publicHost);
  }
  return headers.authorization !== undefined;
}
