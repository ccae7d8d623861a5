import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { ShownStores } from '../ports/stores.ts';
import { AnalysisTrace, traceOf } from './trace.ts';

export interface TraceRouteDeps {
  readonly stores: Pick<ShownStores, 'analyses'>;
  readonly masker: Pick<Masker, 'mask'>;
}

const Params = z.object({ id: z.string().min(1).max(300) });

/** How an analysis came to its answer. An analysis never changes, so who asks again is told so (ETag). */
export function registerTraceRoute(app: FastifyInstance, { stores, masker }: TraceRouteDeps): void {
  app.withTypeProvider<ZodTypeProvider>().get(
    '/api/analyses/:id/trace',
    {
      config: { access: { role: 'read' } },
      schema: {
        tags: ['Analyses'],
        operationId: 'getAnalysisTrace',
        summary: 'Every step, judgment and tool call of one analysis, with time, tokens, cost, cache hits and retries',
        params: Params,
        response: { 200: AnalysisTrace, 304: z.null().describe('The trace still matches the ETag in If-None-Match') },
      },
    },
    async ({ params: { id }, headers }, reply) => {
      const analysis = await stores.analyses.find(id);
      if (analysis === null) throw new TriageError('not-found', `There is no analysis ${id}.`);
      const trace = await traceOf(analysis, async (text) => (await masker.mask(text)).text);
      const tag = `"${createHash('sha256').update(JSON.stringify(trace)).digest('base64url').slice(0, 27)}"`;
      reply.header('etag', tag).header('cache-control', 'private, no-cache');
      if (headers['if-none-match']?.split(',').some((one) => one.trim().replace(/^W\//, '') === tag) === true) {
        return reply.code(304).send(null);
      }
      return trace;
    },
  );
}
