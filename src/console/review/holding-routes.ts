import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { isAdmin, reviewerOf } from '../../review/conflicts.ts';
import { answerQuestion } from '../../review/questions.ts';
import { nextFor, skipReview, takeOverReview } from '../../review/queue.ts';
import { reviewAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { addressAfter } from './decision-routes.ts';
import { ItemParams, reviewOf } from './item-routes.ts';
import { CarriedQueue, filterOf, nextQuery, searchOf } from './queue-query.ts';

const access = { role: 'review' } as const;
const Body = z.object({ queue: CarriedQueue });

/** Holding an item, giving it back, putting it aside, and answering what a run asks. */
export function registerHolding(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const { stores, clock, config } = deps;
  const held = { stores, clock, claimMs: config.review.claimMs };
  const Claim = Body.extend({ over: z.literal('1').optional() });
  typed.post('/review/:id/claim', { config: { access }, schema: { params: ItemParams, body: Claim } }, async (request, reply) => {
    const review = await reviewOf(deps, request.params.id);
    const reviewer = reviewerOf(request);
    if (request.body.over === '1') await takeOverReview(held, { id: review.id, reviewer, isAdmin: isAdmin(request) });
    else await stores.reviews.claim(review.id, reviewer, config.review.claimMs);
    return reply.redirect(`${reviewAddress(review.id)}${searchOf(request.body.queue)}`, 303);
  });
  typed.post('/review/:id/release', { config: { access }, schema: { params: ItemParams, body: Body } }, async (request, reply) => {
    const review = await reviewOf(deps, request.params.id);
    await stores.reviews.release(review.id, reviewerOf(request));
    return reply.redirect(`/review${searchOf({ ...request.body.queue, n: undefined, of: undefined }, { released: 1 })}`, 303);
  });
  typed.post('/review/:id/skip', { config: { access }, schema: { params: ItemParams, body: Body } }, async (request, reply) => {
    const reviewer = reviewerOf(request);
    const { id } = await skipReview(deps, request.params.id, reviewer);
    return reply.redirect(await addressAfter(deps, request.body.queue, reviewer, { id, skipped: true }), 303);
  });
  registerAnswer(app, deps);
}

/** What the buttons beside the text say for the reviewer. */
const WORDS = { unknown: 'I do not know.', 'not-needed': 'No answer needed: continue without one.' } as const;

const Answer = Body.extend({ answer: z.string().trim().max(4000).default(''), how: z.enum(['answer', 'unknown', 'not-needed']) });

function registerAnswer(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post('/review/:id/answer', { config: { access }, schema: { params: ItemParams, body: Answer } }, async (request, reply) => {
    const { answer, how, queue } = request.body;
    const { id } = request.params;
    const reviewer = reviewerOf(request);
    if (how === 'answer' && answer === '') return reply.redirect(`${reviewAddress(id)}${searchOf(queue, { blank: 1 })}`, 303);
    await answerQuestion(id, how === 'answer' ? answer : WORDS[how], reviewer, deps);
    const next = await nextFor({ ...deps, claimMs: deps.config.review.claimMs }, { reviewer, filter: filterOf(queue), sort: queue.sort });
    const query = nextQuery(queue);
    if (next === null) return reply.redirect(`/review${searchOf({ ...query, of: undefined }, { answered: 1 })}`, 303);
    return reply.redirect(`${reviewAddress(next.id)}${searchOf(query, { answered: 1 })}`, 303);
  });
}
