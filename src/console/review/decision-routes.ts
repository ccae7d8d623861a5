import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Category, Kind } from '../../domain/category.ts';
import { nameCategory } from '../../domain/category-words.ts';
import { TriageError } from '../../domain/errors.ts';
import {
  DecisionInput,
  DecisionType,
  findTouchedSuspects,
  RejectReason,
  type Review,
  type ShownBy,
} from '../../domain/review.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { decideReview } from '../../service/review/decide.ts';
import {
  answerQuestion,
  claimNext,
  isAdmin,
  requireReviewer,
  skipReview,
  takeOverReview,
} from '../../service/review/queue.ts';

import { undoDecision } from '../../service/review/undo.ts';
import { formatReviewAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { type ConsoleApp, forgetWaiting, route } from '../page.ts';
import { findReview, ItemParams, sendItem } from './item-routes.ts';
import { mustArm, type Typed } from './item-view.ts';
import { formatClockTime } from './queue.ts';
import { CarriedQueue, formatQuery, type QueueQuery, toNextQuery, toReviewFilter } from './queue-query.ts';

/**
 * Registers the routes for deciding, for undoing a decision, and for choosing a category before the verdict
 * is shown.
 */
export function registerDecisions(app: ConsoleApp, deps: ConsoleDeps): void {
  app.post(
    '/review/:id/decision',
    route('review', { params: ItemParams, body: DecisionForm }),
    async (request, reply) => {
      const { body: form } = request;
      const { id } = request.params;
      const review = await findReview(deps, id);
      if (form.type === 'accept' && form.armed !== '1' && (await isDangerous(deps, review)))
        return reply.redirect(`${formatReviewAddress(id)}${formatQuery(form.queue, { armed: 1 })}`, 303);
      const bulk = form.alsoFor === 'same-fingerprint' ? { alsoFor: form.alsoFor, also: form.also } : {};
      const wanted = {
        reviewId: id,
        version: form.version,
        reviewer: requireReviewer(request),
        input: toDecisionInput(form),
        ...bulk,
      };
      const [outcome] = await Promise.allSettled([decideReview(deps, wanted)]);
      if (outcome.status === 'rejected')
        return await sendRefused(request, reply, deps, form, { id, thrown: outcome.reason });
      forgetWaiting(deps.stores);
      return reply.redirect(
        await findAddressAfter(deps, form.queue, requireReviewer(request), {
          id,
          also: outcome.value.also.length,
        }),
        303,
      );
    },
  );
  const Undo = z.object({ queue: CarriedQueue });
  app.post(
    '/review/:id/undo',
    route('review', { params: ItemParams, body: Undo }),
    async (request, reply) => {
      const { id } = request.params;
      const { undone } = await undoDecision(deps, {
        reviewId: id,
        reviewer: requireReviewer(request),
        isAdmin: isAdmin(request),
      });
      forgetWaiting(deps.stores);
      const { n = 1, u = Math.max(1, n - 1), ...queue } = request.body.queue;
      const search = formatQuery({ ...queue, n: u, u: undefined }, { undone: undone.length });
      return reply.redirect(`${formatReviewAddress(id)}${search}`, 303);
    },
  );
}

/**
 * Tells whether accepting the item needs a confirmation, because its answer excuses a change that touches a
 * suspect.
 */
export async function isDangerous(
  { stores }: ConsoleDeps,
  { analysisId, buildId }: Review,
): Promise<boolean> {
  const [analysis, build] = await Promise.all([
    stores.analyses.find(analysisId),
    stores.builds.find(buildId),
  ]);
  return (
    analysis !== null &&
    build !== null &&
    mustArm({ analysis, overlap: findTouchedSuspects(build, analysis) })
  );
}

/**
 * Sends the current state of the item, with the reason why the decision could not be saved and with all typed
 * text.
 */
async function sendRefused(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
  form: DecisionForm,
  { id, thrown }: { readonly id: string; readonly thrown: unknown },
): Promise<FastifyReply> {
  const expected =
    thrown instanceof TriageError && (thrown.code === 'conflict' || thrown.code === 'invalid-input');
  if (!expected) throw thrown;
  const { status, message } = deps.refused(thrown, request, reply);
  const review = await findReview(deps, id);
  const failure =
    thrown.code === 'conflict'
      ? explainConflict(review, requireReviewer(request), deps.clock.now())
      : message;
  const mode = form.type === 'accept' ? 'read' : form.type;
  const looking = { queue: form.queue, mode, typed: toTyped(form), failure } as const;
  return await sendItem(request, reply, deps, review, looking, { status });
}

/**
 * Returns the address after a decision: the next item, or the queue. The decision is already saved, so an
 * error here does not affect it.
 */
async function findAddressAfter(
  { stores, config, clock, logger }: ConsoleDeps,
  queue: QueueQuery,
  reviewer: string,
  {
    id,
    also = 0,
    skipped = false,
  }: { readonly id: string; readonly also?: number; readonly skipped?: boolean },
): Promise<string> {
  const result = skipped ? { skipped: 1 } : { done: id, ...(also > 0 && { also }) };
  const query = { ...toNextQuery(queue), ...(!skipped && { u: queue.n }) };
  try {
    const how = { reviewer, filter: toReviewFilter(queue), sort: queue.sort, after: id };
    const next = await claimNext({ stores, claimMs: config.review.claimMs, clock }, how);
    return next === null
      ? `/review${formatQuery({ ...query, of: undefined }, result)}`
      : `${formatReviewAddress(next.id)}${formatQuery(query, result)}`;
  } catch (error) {
    logger.warn({ error, reviewId: id }, 'the next item could not be read');
    return `/review${formatQuery({ ...query, of: undefined }, result)}`;
  }
}

const Body = z.object({ queue: CarriedQueue });

/**
 * Registers the routes for claiming an item, releasing it, skipping it, and answering the question of a run.
 */
export function registerHolding(app: ConsoleApp, deps: ConsoleDeps): void {
  const { stores, clock, config } = deps;
  const queueDeps = { stores, clock, claimMs: config.review.claimMs };
  const Claim = Body.extend({ over: z.literal('1').optional() });
  app.post(
    '/review/:id/claim',
    route('review', { params: ItemParams, body: Claim }),
    async (request, reply) => {
      const review = await findReview(deps, request.params.id);
      const reviewer = requireReviewer(request);
      if (request.body.over === '1')
        await takeOverReview(queueDeps, { id: review.id, reviewer, isAdmin: isAdmin(request) });
      else await stores.reviews.claim(review.id, reviewer, config.review.claimMs);
      return reply.redirect(`${formatReviewAddress(review.id)}${formatQuery(request.body.queue)}`, 303);
    },
  );
  app.post(
    '/review/:id/release',
    route('review', { params: ItemParams, body: Body }),
    async (request, reply) => {
      const review = await findReview(deps, request.params.id);
      await stores.reviews.release(review.id, requireReviewer(request));
      return reply.redirect(
        `/review${formatQuery({ ...request.body.queue, n: undefined, of: undefined }, { released: 1 })}`,
        303,
      );
    },
  );
  app.post(
    '/review/:id/skip',
    route('review', { params: ItemParams, body: Body }),
    async (request, reply) => {
      const reviewer = requireReviewer(request);
      const { id } = await skipReview(deps, request.params.id, reviewer);
      return reply.redirect(
        await findAddressAfter(deps, request.body.queue, reviewer, { id, skipped: true }),
        303,
      );
    },
  );
  registerAnswer(app, deps);
}

/** The answers of the buttons next to the text field. */
const WORDS = { unknown: 'I do not know.', 'not-needed': 'No answer needed: continue without one.' } as const;

const Answer = Body.extend({
  answer: z.string().trim().max(4000).default(''),
  how: z.enum(['answer', 'unknown', 'not-needed']),
});

function registerAnswer(app: ConsoleApp, deps: ConsoleDeps): void {
  app.post(
    '/review/:id/answer',
    route('review', { params: ItemParams, body: Answer }),
    async (request, reply) => {
      const { answer, how, queue } = request.body;
      const { id } = request.params;
      const reviewer = requireReviewer(request);
      if (how === 'answer' && answer === '')
        return reply.redirect(`${formatReviewAddress(id)}${formatQuery(queue, { blank: 1 })}`, 303);
      await answerQuestion(id, how === 'answer' ? answer : WORDS[how], reviewer, deps);
      const next = await claimNext(
        { ...deps, claimMs: deps.config.review.claimMs },
        { reviewer, filter: toReviewFilter(queue), sort: queue.sort },
      );
      const query = toNextQuery(queue);
      if (next === null)
        return reply.redirect(`/review${formatQuery({ ...query, of: undefined }, { answered: 1 })}`, 303);
      return reply.redirect(`${formatReviewAddress(next.id)}${formatQuery(query, { answered: 1 })}`, 303);
    },
  );
}

const blankless = (most: number) =>
  z
    .string()
    .max(most)
    .default('')
    .transform((text) => (text.trim() === '' ? undefined : text));
/** A field that occurs once, several times, or not at all. */
const several = z.union([z.string().transform((single) => [single]), z.array(z.string())]).default([]);

/** The fields of the forms for decisions. */
export const DecisionForm = z.object({
  type: DecisionType,
  version: z.coerce.number().int().min(0),
  queue: CarriedQueue,
  openedAt: z.iso.datetime().optional(),
  armed: z.literal('1').optional(),
  category: Category.optional(),
  kind: z.union([z.literal('').transform(() => undefined), Kind]).optional(),
  rootCause: blankless(4000),
  fixRecommendation: blankless(4000),
  reason: blankless(4000),
  reasonCode: RejectReason.optional(),
  evidence: several,
  none: z.literal('1').optional(),
  lines: z.string().max(400).default(''),
  source: z.string().max(300).default(''),
  alsoFor: z.enum(['', 'same-fingerprint']).default(''),
  also: several,
});
export type DecisionForm = z.infer<typeof DecisionForm>;

const RANGE = /^(\d{1,9})(?:[-–](\d{1,9}))?$/;

/** Converts a form to a decision. A correction that names no evidence is marked `none`. */
export function toDecisionInput(form: DecisionForm): DecisionInput {
  const { type, category, kind, rootCause, fixRecommendation, reason, reasonCode, openedAt } = form;
  const correction =
    type === 'correct' ? { category, kind, rootCause, fixRecommendation, shownBy: parseShownBy(form) } : {};
  const rejection = type === 'reject' ? { reason, reasonCode } : {};
  return DecisionInput.parse(omitUndefined({ type, openedAt, ...correction, ...rejection }));
}

function parseShownBy({ evidence, lines, source, none }: DecisionForm): ShownBy {
  const ranges = source === '' ? [] : lines.split(/[,\s]/).flatMap((part) => parseRange(part, source));
  if (none === '1' || evidence.length + ranges.length === 0) return 'none';
  return { evidence: evidence.slice(0, 50), lines: ranges.slice(0, 20) };
}

function parseRange(text: string, source: string) {
  const [, from, to] = RANGE.exec(text.trim()) ?? [];
  const lineStart = Number(from ?? 0);
  return lineStart < 1 ? [] : [{ source, lineStart, lineEnd: Number(to ?? from) }];
}

/** Returns the typed fields, so that they can be shown again if they could not be saved. */
export function toTyped({
  category,
  kind,
  rootCause,
  fixRecommendation,
  reason,
  evidence,
  lines,
  none,
  alsoFor,
}: DecisionForm): Typed {
  const kept = omitUndefined({ category, kind, rootCause, fixRecommendation, reason });
  return { ...kept, evidence, lines, none: none === '1', same: alsoFor === 'same-fingerprint' };
}

/**
 * Explains why a decision came too late, and what happens to the typed text. `now` is in milliseconds since
 * 1970.
 */
export function explainConflict(
  { decision, state, claimedBy, claimedAt }: Review,
  reviewer: string,
  now: number,
): string {
  if (decision !== null) {
    const did = {
      accept: 'accepted',
      correct: `corrected to ${nameCategory(decision.category)}`,
      reject: 'rejected',
    }[decision.type];
    return (
      `${decision.reviewer} decided this ${formatAge(now - Date.parse(decision.decidedAt))} ` +
      `ago: ${did}. Your text is kept below.`
    );
  }
  if (state === 'claimed' && claimedBy !== reviewer)
    return (
      `${claimedBy} has been reviewing this since ${formatClockTime(claimedAt)}. ` +
      `Your text is kept below.`
    );
  return 'This item changed since you opened it. Your text is still here: check the item, then save again.';
}

function formatAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
