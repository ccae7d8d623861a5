import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SessionDoor } from '../console/console-deps.ts';
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
interface Doorkeepers {
  readonly holders: TokenHolders;
  readonly sessions: Pick<SessionDoor, 'find'>;
  /** Throws where a holder comes too often. */
  readonly count: (request: FastifyRequest) => Promise<void>;
}

/** Deny by default: declared at start, enforced before the body is read. */
export function enforceAccess(app: FastifyInstance, { holders, sessions, count }: Doorkeepers): void {
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
  app.addHook('onRequest', async (request) => {
    const access: RouteAccess | undefined = request.routeOptions.config.access;
    if (access === undefined || 'open' in access || 'signature' in access) return;
    const { authorization } = request.headers;
    const bySession = request.routeOptions.config.console === true && authorization === undefined;
    const principal = bySession ? await sessions.find(request) : await holders.find(authorization);
    request.principal = principal;
    await count(request);
    if (!principal.roles.includes(access.role) && !principal.roles.includes('admin')) throw lacksRole(principal, access.role);
  });
}

function isDocs(url: string): boolean {
  return url === DOCS_PATH || url.startsWith(`${DOCS_PATH}/`);
}

function lacksRole(principal: Principal, role: Role): TriageError {
  return new TriageError('forbidden', `${principal.name} may not do this: it needs the role "${role}".`, {
    details: { principal: principal.name },
  });
}
