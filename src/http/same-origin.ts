import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TriageError } from '../domain/errors.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses (`forbidden`) what other sites make a signed-in browser send to the pages: the rule of Go 1.25's http.CrossOriginProtection. A browser says
 * where a request comes from in `Sec-Fetch-Site`, older ones in `Origin`; who says neither is no browser, and must show a token instead of a cookie.
 */
export function refuseOtherSites(app: FastifyInstance, publicUrl: string | null): void {
  const publicHost = publicUrl === null ? null : new URL(publicUrl).host;
  app.addHook('onRequest', async (request) => {
    if (SAFE_METHODS.has(request.method) || request.routeOptions.config.console !== true) return;
    if (!isOwn(request, publicHost)) {
      throw new TriageError('forbidden', 'This request came from another site. Open Faultline and do it there.');
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
