import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { App } from '../app/served-app.ts';
import type { RouteAccess } from '../domain/access.ts';
import { describeOperation } from '../lib/openapi.ts';
import { type Tracer, withFields } from '../ports/telemetry.ts';
import { toFastifyLogger } from './refusal.ts';

type WatchedApp = Pick<App, 'readiness' | 'metrics'>;

const State = z.enum(['ok', 'degraded', 'down']);
const Short = {
  degraded: z
    .array(z.string())
    .describe('Backends that are unavailable or degraded. Builds are still accepted and triaged.'),
  backends: z.record(z.string(), State),
};
const Health = z.object({ state: State, says: z.string(), since: z.string() });

/**
 * The access rules of the metrics and of the details that backends report. If a rule is null, that part is
 * not served.
 */
interface OperationsAccess {
  readonly metrics: RouteAccess;
  readonly details: RouteAccess | null;
}

/** Registers `/healthz`, `/readyz`, `/metrics`, and, for token holders, `/api/readiness`. */
export function registerOperations(app: FastifyInstance, deps: WatchedApp, access: OperationsAccess): void {
  registerHealth(app, deps);
  app.get(
    '/metrics',
    {
      config: { access: access.metrics },
      schema: {
        ...describeOperation(
          'Health',
          'readMetrics',
          'Prometheus metrics',
          'In the Prometheus text format. See docs/reference/metrics.md for the list.',
        ),
        response: { 200: { description: 'The metrics', content: { 'text/plain': { schema: z.string() } } } },
      },
    },
    async (_request, reply) => {
      const { contentType, body } = await deps.metrics.text();
      return reply.header('content-type', contentType).header('cache-control', 'no-store').send(body);
    },
  );
  if (access.details === null) return;
  app.get(
    '/api/readiness',
    {
      config: { access: access.details },
      schema: {
        ...describeOperation('Health', 'readReadiness', 'Status of each backend'),
        response: {
          200: z.object({
            ready: z.boolean(),
            degraded: Short.degraded,
            backends: z.record(z.string(), Health),
          }),
        },
      },
    },
    async () => {
      const { ok, degraded, backends } = await deps.readiness();
      return { ready: ok, degraded: [...degraded], backends: { ...backends } };
    },
  );
}

function registerHealth(app: FastifyInstance, deps: WatchedApp): void {
  app.get(
    '/healthz',
    {
      config: {
        access: { open: 'a probe has no token; the response says only that the process is alive' },
        rateLimit: false,
      },
      schema: {
        ...describeOperation('Health', 'checkHealth', 'Liveness check'),
        response: { 200: z.object({ alive: z.literal(true) }) },
      },
    },
    async () => ({ alive: true as const }),
  );
  app.get(
    '/readyz',
    {
      config: {
        access: {
          open: 'a probe has no token; the response names backends and their state, but no address or error',
        },
        rateLimit: false,
      },
      schema: {
        ...describeOperation('Health', 'checkReadiness', 'Readiness check and unavailable backends'),
        response: {
          200: z.object({ ready: z.literal(true), ...Short }),
          503: z.object({ ready: z.literal(false), ...Short }),
        },
      },
    },
    async (_request, reply) => {
      const { ok, degraded, backends } = await deps.readiness();
      const states = Object.fromEntries(Object.entries(backends).map(([name, { state }]) => [name, state]));
      const short = { degraded: [...degraded], backends: states };
      if (ok) return { ready: true as const, ...short };
      return reply
        .status(503)
        .header('retry-after', '5')
        .send({ ready: false, ...short });
    },
  );
}

const REQUEST_TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1024;

const OPEN = {
  open: 'served on a separate port that serves nothing else and that only the scraper should reach',
};

/**
 * Builds a monitoring server on its own port, for processes without another server and for scrapers without a
 * token.
 */
export async function buildOperations(deps: WatchedApp & Pick<App, 'logger'>): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: toFastifyLogger(deps.logger),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(async (error, request, reply) => {
    deps.logger.error({ error, path: request.routeOptions.url }, 'an operations request failed');
    return reply
      .status(500)
      .send({ error: { code: 'internal', message: 'Something went wrong. See the server log.' } });
  });
  app.setNotFoundHandler(async (_request, reply) =>
    reply
      .status(404)
      .send({ error: { code: 'not-found', message: 'This port serves /healthz, /readyz and /metrics.' } }),
  );
  registerOperations(app, deps, { metrics: OPEN, details: null });
  await app.ready();
  return app;
}

/**
 * Observes every route that is registered later: its responses are timed, its log lines get the request id,
 * and routes that receive builds start a trace. The `traceparent` header of a sender is ignored, because
 * unknown senders must not decide which requests are traced.
 */
export function observeRequests(
  app: FastifyInstance,
  { logger, metrics, tracer }: Pick<App, 'logger' | 'metrics' | 'tracer'>,
): void {
  app.addHook('onRoute', (route) => {
    const { handler, url } = route;
    const traced = bringsBuilds(route.config?.access);
    route.handler = function observed(this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
      const handle = () => handler.call(this, request, reply);
      return withFields(logger, { requestId: request.id }, () =>
        traced ? traceRequest(tracer, url, request, reply, handle) : handle(),
      );
    };
  });
  app.addHook('onResponse', async (request, reply) => {
    const labels = {
      method: request.method,
      // A path without a route can be any text, so it has no series of its own.
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
