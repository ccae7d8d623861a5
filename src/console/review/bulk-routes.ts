import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { RejectReason } from '../../domain/review.ts';
import { decideReview } from '../../service/review/decide.ts';
import { isAdmin, requireReviewer } from '../../service/review/queue.ts';
import { undoDecision } from '../../service/review/undo.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { type ConsoleApp, forgetWaiting, route } from '../page.ts';
import { isDangerous } from './decision-routes.ts';
import { CarriedQueue, formatQuery } from './queue-query.ts';

/** The maximum number of items that one form decides, equal to the rows of a page of the queue. */
const MOST = 50;

const Pick = z
  .string()
  .regex(/^\S{1,100} \d{1,9}$/)
  .transform((text) => ({ id: text.split(' ')[0] ?? '', version: Number(text.split(' ')[1]) }));
const several = z.union([z.string().transform((value) => [value]), z.array(z.string())]);

const Form = z.object({
  pick: several
    .optional()
    .transform((picks) => picks ?? [])
    .pipe(z.array(Pick).max(MOST)),
  queue: CarriedQueue,
  type: z.enum(['accept', 'reject']),
  reasonCode: RejectReason.optional().catch(undefined),
});
const UndoForm = z.object({ ids: z.string().max(4_000), queue: CarriedQueue });

/** Registers the form that decides several items of the queue, and the one that undoes these decisions. */
export function registerBulkDecisions(app: ConsoleApp, deps: ConsoleDeps): void {
  app.post('/review/bulk', route('review', { body: Form }), async (request, reply) => {
    const { pick, queue, type, reasonCode } = request.body;
    if (pick.length === 0) throw new TriageError('invalid-input', 'Select at least one item first.');
    const reviewer = requireReviewer(request);
    const input = type === 'accept' ? { type } : { type, ...(reasonCode && { reasonCode }) };
    const decided: string[] = [];
    for (const { id, version } of pick) {
      const review = await deps.stores.reviews.find(id);
      // If the answer excuses its own suspect, the item must be decided on its own page, which shows a
      // warning.
      if (review === null || (type === 'accept' && (await isDangerous(deps, review)))) continue;
      const wanted = { reviewId: id, version, reviewer, input, alsoFor: 'same-fingerprint' } as const;
      const [outcome] = await Promise.allSettled([decideReview(deps, wanted)]);
      if (outcome.status === 'fulfilled') decided.push(id);
      else if (!(outcome.reason instanceof TriageError) || outcome.reason.retryable) throw outcome.reason;
    }
    forgetWaiting(deps.stores);
    const left = pick.length - decided.length;
    const result = { ...(decided.length > 0 && { ids: decided.join(' ') }), ...(left > 0 && { left }) };
    return reply.redirect(`/review${formatQuery({ ...queue, offset: 0 }, result)}`, 303);
  });
  app.post('/review/bulk/undo', route('review', { body: UndoForm }), async (request, reply) => {
    const { ids, queue } = request.body;
    const how = { reviewer: requireReviewer(request), isAdmin: isAdmin(request) };
    let undone = 0;
    for (const reviewId of ids.split(' ').slice(0, MOST)) {
      const [outcome] = await Promise.allSettled([undoDecision(deps, { reviewId, ...how })]);
      if (outcome.status === 'fulfilled') undone += outcome.value.undone.length;
      else if (!(outcome.reason instanceof TriageError) || outcome.reason.retryable) throw outcome.reason;
    }
    forgetWaiting(deps.stores);
    return reply.redirect(`/review${formatQuery(queue, { undone })}`, 303);
  });
}
