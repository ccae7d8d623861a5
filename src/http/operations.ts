import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { RouteAccess } from '../domain/access.ts';
import type { Metrics } from '../ports/telemetry.ts';

const State = z.enum(['ok', 'degraded', 'down']);
const Short = {
  degraded: z.array(z.string()).describe('Backends that are unavailable or degraded. Builds are still accepted and triaged.'),
  backends: z.record(z.string(), State),
};
const Health = z.object({ state: State, says: z.string(), since: z.string() });

/** What whoever watches may ask; an `App` has it. */
export interface OperationsDeps {
  readonly readiness: () => Promise<{
    readonly ok: boolean;
    readonly degraded: readonly string[];
    readonly backends: Readonly<Record<string, z.infer<typeof Health>>>;
  }>;
  readonly metrics: Metrics;
}

/** Who may read the numbers, and whether what backends say in words is told here too. */
export interface OperationsAccess {
  readonly metrics: RouteAccess;
  readonly details: RouteAccess | null;
}

/** `/healthz`, `/readyz`, `/metrics`, and for people with a token `/api/readiness`. */
export function registerOperations(app: FastifyInstance, deps: OperationsDeps, access: OperationsAccess): void {
  registerHealth(app, deps);
  app.get(
    '/metrics',
    {
      config: { access: access.metrics },
      schema: {
        tags: ['Health'],
        operationId: 'readMetrics',
        summary: 'Prometheus metrics',
        description: 'In the Prometheus text format. See docs/reference/metrics.md for the list.',
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
        tags: ['Health'],
        operationId: 'readReadiness',
        summary: 'Status of each backend',
        response: { 200: z.object({ ready: z.boolean(), degraded: Short.degraded, backends: z.record(z.string(), Health) }) },
      },
    },
    async () => {
      const { ok, degraded, backends } = await deps.readiness();
      return { ready: ok, degraded: [...degraded], backends: { ...backends } };
    },
  );
}

function registerHealth(app: FastifyInstance, deps: OperationsDeps): void {
  app.get(
    '/healthz',
    {
      config: { access: { open: 'a probe has no token; the response says only that the process is alive' }, rateLimit: false },
      schema: {
        tags: ['Health'],
        operationId: 'checkHealth',
        summary: 'Liveness check',
        response: { 200: z.object({ alive: z.literal(true) }) },
      },
    },
    async () => ({ alive: true as const }),
  );
  app.get(
    '/readyz',
    {
      config: {
        access: { open: 'a probe has no token; the response names backends and their state, but no address or error' },
        rateLimit: false,
      },
      schema: {
        tags: ['Health'],
        operationId: 'checkReadiness',
        summary: 'Readiness check and unavailable backends',
        response: { 200: z.object({ ready: z.literal(true), ...Short }), 503: z.object({ ready: z.literal(false), ...Short }) },
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
