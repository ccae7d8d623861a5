import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Review } from '../../domain/review.ts';
import { isAdmin, reviewerOf } from '../../review/conflicts.ts';
import { type DecisionOutcome, decideReview } from '../../review/decide.ts';
import { nextFor, recordBlindGuess } from '../../review/queue.ts';
import { undoDecision } from '../../review/undo.ts';
import { reviewAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { forgetWaiting } from '../reader.ts';
import { conflictWords } from './conflict-words.ts';
import { DecisionForm, inputOf, typedOf } from './decision-form.ts';
import { ItemParams, reviewOf, sendItem } from './item-routes.ts';
import { mustArm } from './item-view.ts';
import { readOverlap } from './parts/analysis-facts.ts';
import { CarriedQueue, filterOf, nextQuery, type QueueQuery, searchOf } from './queue-query.ts';

const access = { role: 'review' } as const;

/** Deciding, taking back, and saying a category before the verdict is seen. */
export function registerDecisions(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    '/review/:id/decision',
    { config: { access }, schema: { params: ItemParams, body: DecisionForm } },
    async (request, reply) => await decide(request, reply, deps, request.params.id, request.body),
  );
  const Undo = z.object({ queue: CarriedQueue });
  typed.post('/review/:id/undo', { config: { access }, schema: { params: ItemParams, body: Undo } }, async (request, reply) => {
    const { id } = request.params;
    const { undone } = await undoDecision(deps, { reviewId: id, reviewer: reviewerOf(request), isAdmin: isAdmin(request) });
    forgetWaiting(deps.stores);
    const { n = 1, ...queue } = request.body.queue;
    return reply.redirect(`${reviewAddress(id)}${searchOf({ ...queue, n: Math.max(1, n - 1) }, { undone: undone.length })}`, 303);
  });
  const Guess = z.object({ category: Category, queue: CarriedQueue });
  typed.post('/review/:id/guess', { config: { access }, schema: { params: ItemParams, body: Guess } }, async (request, reply) => {
    const { id } = request.params;
    const { category, queue } = request.body;
    const { blindEvery } = deps.config.review;
    await recordBlindGuess({ stores: deps.stores, blindEvery }, { reviewId: id, reviewer: reviewerOf(request), category });
    return reply.redirect(`${reviewAddress(id)}${searchOf(queue)}`, 303);
  });
}

async function decide(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
  id: string,
  form: DecisionForm,
): Promise<FastifyReply> {
  const review = await reviewOf(deps, id);
  if (form.type === 'accept' && form.armed !== '1' && (await isDangerous(deps, review)))
    return reply.redirect(`${reviewAddress(id)}${searchOf(form.queue, { armed: 1 })}`, 303);
  const bulk = form.alsoFor === 'same-fingerprint' ? { alsoFor: form.alsoFor, also: form.also } : {};
  const wanted = { reviewId: id, version: form.version, reviewer: reviewerOf(request), input: inputOf(form), ...bulk };
  const outcome = await decideReview({ ...deps, blindEvery: deps.config.review.blindEvery }, wanted).catch((thrown: unknown) => thrown);
  if (!isOutcome(outcome)) return await sendRefused(request, reply, deps, form, { id, thrown: outcome });
  forgetWaiting(deps.stores);
  return reply.redirect(await addressAfter(deps, form.queue, reviewerOf(request), { id, also: outcome.also.length }), 303);
}

async function isDangerous(deps: ConsoleDeps, review: Review): Promise<boolean> {
  const analysis = await deps.stores.analyses.find(review.analysisId);
  return analysis !== null && mustArm({ analysis, overlap: await readOverlap(deps.stores, analysis) });
}

function isOutcome(value: unknown): value is DecisionOutcome {
  return typeof value === 'object' && value !== null && 'review' in value && 'also' in value;
}

/** What cannot be saved is said on the item as it stands now, with all that was typed. */
async function sendRefused(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
  form: DecisionForm,
  { id, thrown }: { readonly id: string; readonly thrown: unknown },
): Promise<FastifyReply> {
  const expected = thrown instanceof TriageError && (thrown.code === 'conflict' || thrown.code === 'invalid-input');
  if (!expected) throw thrown;
  const { status, message } = deps.refused(thrown, request, reply);
  const review = await reviewOf(deps, id);
  const failure = thrown.code === 'conflict' ? conflictWords(review, reviewerOf(request), deps.clock.now()) : message;
  const mode = form.type === 'correct' ? 'correct' : form.type === 'reject' ? 'reject' : 'read';
  const looking = { queue: form.queue, mode, typed: typedOf(form), failure } as const;
  return await sendItem(request, reply, deps, review, looking, { status });
}

/** Where a decision leads: the next item, or the queue. The decision is saved by now, whatever becomes of this. */
export async function addressAfter(
  { stores, config, clock, logger }: ConsoleDeps,
  queue: QueueQuery,
  reviewer: string,
  { id, also = 0, skipped = false }: { readonly id: string; readonly also?: number; readonly skipped?: boolean },
): Promise<string> {
  const said = skipped ? { skipped: 1 } : { done: id, ...(also > 0 && { also }) };
  const query = nextQuery(queue);
  try {
    const how = { reviewer, filter: filterOf(queue), sort: queue.sort, after: id };
    const next = await nextFor({ stores, claimMs: config.review.claimMs, clock }, how);
    return next === null ? `/review${searchOf({ ...query, of: undefined }, said)}` : `${reviewAddress(next.id)}${searchOf(query, said)}`;
  } catch (error) {
    logger.warn({ error, reviewId: id }, 'the next item could not be read');
    return `/review${searchOf({ ...query, of: undefined }, said)}`;
  }
}
