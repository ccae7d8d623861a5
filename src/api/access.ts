import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { SessionService } from '../console/console-deps.ts';
import type { RouteAccess } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import { holds, type Principal, type Role } from '../domain/review.ts';
import { DOCS_ACCESS, DOCS_PATH } from './api-description.ts';
import type { ApiApp } from './route.ts';
import type { TokenHolders } from './token-holders.ts';

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
    const role = findRole(request);
    if (role === null) return;
    request.principal = await find(request);
    await count(request);
    requireRole(request.principal, role);
  });
  // An event stream ends soon after its reader loses access.
  app.addHook('onSend', async (request, reply, payload) => {
    const role = findRole(request);
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
function findRole(request: FastifyRequest): Role | null {
  const access: RouteAccess | undefined = request.routeOptions.config.access;
  return access === undefined || 'open' in access || 'signature' in access ? null : access.role;
}

function requireRole(principal: Principal, role: Role): void {
  if (!holds(principal, role)) throw createMissingRoleError(principal, role);
}

function isDocs(url: string): boolean {
  return url === DOCS_PATH || url.startsWith(`${DOCS_PATH}/`);
}

function createMissingRoleError(principal: Principal, role: Role): TriageError {
  return new TriageError(
    'forbidden',
    `${principal.name} does not have permission: this needs the role "${role}".`,
    {
      details: { principal: principal.name },
    },
  );
}

export function readPrincipalName(principal: Principal | null): string {
  return principal?.name ?? 'unknown';
}
