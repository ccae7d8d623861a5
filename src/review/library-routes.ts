import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { reviewerOf } from './reviewer.ts';
import { confirmStays, type TeachDeps, withdrawEntry } from './teach.ts';
import { TeachView, WithdrawBody } from './views.ts';

const Params = z.object({ id: z.string().min(1).max(100) });
const access = { access: { role: 'review' } } as const;
const tags = ['Library'];

/** Second thoughts about what was taught. */
export function registerLibraryRoutes(app: FastifyInstance, deps: TeachDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    '/api/library/:id/withdraw',
    {
      config: access,
      schema: {
        tags,
        operationId: 'withdrawLibraryEntry',
        summary: 'Withdraw an entry',
        description: 'The entry is no longer used in recall and search. The entry it replaced is used again.',
        params: Params,
        body: WithdrawBody,
        response: { 200: TeachView },
      },
    },
    async (request) => await withdrawEntry(deps, { id: request.params.id, by: reviewerOf(request), reason: request.body.reason }),
  );
  typed.post(
    '/api/library/:id/stays',
    {
      config: access,
      schema: {
        tags,
        operationId: 'keepLibraryEntry',
        summary: 'Confirm a flagged entry',
        description: 'Green builds contain the same lines as this entry, so it is not used until someone confirms it.',
        params: Params,
        response: { 200: TeachView },
      },
    },
    async (request) => await confirmStays(deps, { id: request.params.id, by: reviewerOf(request) }),
  );
}
