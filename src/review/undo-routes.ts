import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answerConflict } from './answer-conflict.ts';
import { isAdmin, reviewerOf } from './reviewer.ts';
import { listSame } from './same.ts';
import { type UndoDeps, undoDecision } from './undo.ts';
import { LastDecisionView, ReviewConflict, SameView, UndoBody, UndoView } from './views.ts';

const Params = z.object({ id: z.string().min(1).max(100) });
const access = { access: { role: 'review' } } as const;
const tags = ['Review'];

/** Taking decisions back, and what can be decided as one. */
export function registerUndoRoutes(app: FastifyInstance, deps: UndoDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    '/api/reviews/:id/undo',
    {
      config: access,
      errorHandler: answerConflict,
      schema: {
        tags,
        operationId: 'undoReview',
        summary: 'Undo a decision',
        description:
          'Your own decision, or anyone’s with the role admin. The item returns to the queue, its library entry is withdrawn, and the entry it replaced is used again. Decisions made together are undone together.',
        params: Params,
        body: UndoBody,
        response: { 200: UndoView, 409: ReviewConflict },
      },
    },
    async (request) => {
      const version = request.body?.version;
      const who = { reviewId: request.params.id, reviewer: reviewerOf(request), isAdmin: isAdmin(request) };
      const { review, undone, withdrawn, restored } = await undoDecision(deps, { ...who, ...(version === undefined ? {} : { version }) });
      return { review, undone: [...undone], withdrawn: [...withdrawn], restored: [...restored] };
    },
  );
  typed.get(
    '/api/reviews/last-decision',
    {
      config: access,
      schema: { tags, operationId: 'getLastDecision', summary: 'Your latest decision', response: { 200: LastDecisionView } },
    },
    async (request) => ({ decision: await deps.stores.reviews.lastDecision(reviewerOf(request)) }),
  );
  typed.get(
    '/api/reviews/:id/same',
    {
      config: access,
      schema: {
        tags,
        operationId: 'listSameReviews',
        summary: 'Items that can be decided together with this one',
        params: Params,
        response: { 200: SameView },
      },
    },
    async (request) => ({ items: await listSame(deps, { reviewId: request.params.id, reviewer: reviewerOf(request) }) }),
  );
}
