import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RouteAccess } from '../domain/access.ts';
import { type Logger, type Metrics, type Tracer, withFields } from '../ports/telemetry.ts';

export interface Observers {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

/**
 * For every route that is registered after this: its answers are timed, what its handler logs bears the request's id, and where builds come
 * in a trace begins. A traceparent that a sender brings is not taken over: who we trace is no stranger's choice.
 */
export function observeRequests(app: FastifyInstance, { logger, metrics, tracer }: Observers): void {
  app.addHook('onRoute', (route) => {
    const { handler, url } = route;
    const traced = bringsBuilds(route.config?.access);
    route.handler = function observed(this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
      const handle = () => handler.call(this, request, reply);
      return withFields(logger, { requestId: request.id }, () => (traced ? traceRequest(tracer, url, request, reply, handle) : handle()));
    };
  });
  app.addHook('onResponse', async (request, reply) => {
    const labels = {
      method: request.method,
      // What is no route is any text: it has no series of its own.
      route: request.routeOptions.url ?? 'none',
      status: `${Math.floor(reply.statusCode / 100)}xx`,
    };
    metrics.observe('http_request_duration_seconds', labels, reply.elapsedTime / 1000);
  });
}

function bringsBuilds(access: RouteAccess | undefined): boolean {
  return access !== undefined && ('signature' in access || ('role' in access && access.role === 'ingest'));
}

function traceRequest(
  tracer: Tracer,
  route: string,
  { method, id }: FastifyRequest,
  reply: FastifyReply,
  handle: () => unknown,
): Promise<unknown> {
  const facts = { 'http.request.method': method, 'http.route': route, 'faultline.request.id': id };
  return tracer.span({ name: `${method} ${route}`, kind: 'server', facts }, async (span) => {
    const answer = await handle();
    span.add({ 'http.response.status_code': reply.statusCode });
    return answer;
  });
}
