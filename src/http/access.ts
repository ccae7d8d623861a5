import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SessionService } from '../console/console-deps.ts';
import type { RouteAccess } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import type { Principal, Role } from '../domain/review.ts';
import { DOCS_ACCESS, DOCS_PATH } from './api-description.ts';
import type { TokenHolders } from './token-holders.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route. A route without it stops the start. */
    access?: RouteAccess;
    /** A page for people: it takes the cookie of a session where no token is shown, and answers errors as pages. */
    console?: true;
  }
  interface FastifyInstance {
    /** Every route with who may use it, in the order of registration. */
    routeAccess: readonly { readonly method: string; readonly url: string; readonly access: RouteAccess }[];
  }
  interface FastifyRequest {
    /** The holder of the token; null on routes that need none. */
    principal: Principal | null;
  }
}

/** Who asks: by a token, or, where pages are asked for, by a session. */
interface AccessDeps {
  readonly holders: TokenHolders;
  readonly sessions: Pick<SessionService, 'find'>;
  /** Throws where a holder comes too often. */
  readonly count: (request: FastifyRequest) => Promise<void>;
  /** How often whoever follows a stream of events is asked for anew, in milliseconds; absent: 5 s. */
  readonly lookAgainMs?: number;
}

const LOOK_AGAIN_MS = 5_000;

/** Deny by default: declared at start, enforced before the body is read. */
export function enforceAccess(app: FastifyInstance, { holders, sessions, count, lookAgainMs = LOOK_AGAIN_MS }: AccessDeps): void {
  const table: { method: string; url: string; access: RouteAccess }[] = [];
  app.decorate('routeAccess', table);
  app.decorateRequest('principal', null);
  app.addHook('onRoute', (route) => {
    const access = route.config?.access ?? (isDocs(route.url) ? DOCS_ACCESS : undefined);
    if (access === undefined)
      throw new TriageError('invalid-config', `The route ${String(route.method)} ${route.url} does not declare config.access.`);
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
  // What goes on for minutes ends soon after who follows it may not.
  app.addHook('onSend', async (request, reply, payload) => {
    const role = roleFor(request);
    if (role === null || !(payload instanceof Readable) || !String(reply.getHeader('content-type')).startsWith('text/event-stream')) return;
    const timer = setInterval(() => {
      find(request)
        .then((principal) => requireRole(principal, role))
        .catch((error: unknown) => {
          if (error instanceof TriageError && (error.code === 'unauthenticated' || error.code === 'forbidden')) payload.destroy();
        });
    }, lookAgainMs);
    payload.once('close', () => clearInterval(timer));
  });
}

/** Null where nobody has to show who they are. */
function roleFor(request: FastifyRequest): Role | null {
  const access: RouteAccess | undefined = request.routeOptions.config.access;
  return access === undefined || 'open' in access || 'signature' in access ? null : access.role;
}

function requireRole(principal: Principal, role: Role): void {
  if (!principal.roles.includes(role) && !principal.roles.includes('admin')) throw lacksRole(principal, role);
}

function isDocs(url: string): boolean {
  return url === DOCS_PATH || url.startsWith(`${DOCS_PATH}/`);
}

function lacksRole(principal: Principal, role: Role): TriageError {
  return new TriageError('forbidden', `${principal.name} does not have permission: this needs the role "${role}".`, {
    details: { principal: principal.name },
  });
}
