import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/schema.ts';
import type { RouteAccess } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import type { Principal, Role } from '../domain/review.ts';
import { DOCS_ACCESS, DOCS_PATH } from './api-description.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route. A route without it stops the start. */
    access?: RouteAccess;
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

/** Deny by default: declared at start, enforced before the body is read. */
export function enforceAccess(app: FastifyInstance, tokens: Config['auth']['tokens']): void {
  const table: { method: string; url: string; access: RouteAccess }[] = [];
  app.decorate('routeAccess', table);
  app.decorateRequest('principal', null);
  const known = tokens.map(({ name, roles, token }) => ({ principal: { name, roles }, digest: sha256(token) }));
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
    const principal = holderOf(request.headers.authorization, known);
    if (!principal.roles.includes(access.role) && !principal.roles.includes('admin')) throw lacksRole(principal, access.role);
    request.principal = principal;
  });
}

function isDocs(url: string): boolean {
  return url === DOCS_PATH || url.startsWith(`${DOCS_PATH}/`);
}

interface KnownToken {
  readonly principal: Principal;
  readonly digest: Buffer;
}

/** Compares with every known token in constant time; digests make the lengths equal. Throws `unauthenticated`. */
function holderOf(authorization: string | undefined, known: readonly KnownToken[]): Principal {
  const token = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) {
    throw new TriageError('unauthenticated', 'This address needs a token. Send the header "Authorization: Bearer <token>".');
  }
  const digest = sha256(token);
  let holder: Principal | null = null;
  for (const candidate of known) if (timingSafeEqual(digest, candidate.digest)) holder = candidate.principal;
  if (holder === null) throw new TriageError('unauthenticated', 'The token is not known here. Tokens are configured in FAULTLINE_TOKENS.');
  return holder;
}

function lacksRole(principal: Principal, role: Role): TriageError {
  return new TriageError('forbidden', `The token "${principal.name}" may not do this: it needs the role "${role}".`, {
    details: { principal: principal.name },
  });
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
