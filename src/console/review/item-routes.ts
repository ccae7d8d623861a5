import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Review, ReviewerQuestion } from '../../domain/review.ts';
import { createUnknownReviewError, isAdmin, requireReviewer } from '../../service/review/queue.ts';

import { buildAddress, formatReviewAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { formatAge, keysLink, renderHiddenFields, renderTime } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { answerPage, type ConsoleApp, loadReader, route, sendPage } from '../page.ts';
import { icon } from '../parts/icons.ts';
import { banner, renderCategory } from '../parts/marks.ts';
import { prose } from '../prose.ts';
import { itemBar, itemMain, unknownItemMain } from './item-page.ts';
import { getHold, type Looking, readItem } from './item-view.ts';
import { describeLastAction, formatQuery, QueueQuery, Said } from './queue-query.ts';

export const ItemParams = z.object({ id: z.string().min(1).max(100) });
const flag = z.literal('1').optional().catch(undefined);
const ItemQuery = z.object({
  ...QueueQuery.shape,
  ...Said.shape,
  edit: flag,
  reject: flag,
  armed: flag,
  blank: flag,
  ts: z.enum(['0', '1']).optional().catch(undefined),
});

/**
 * Registers `/review/:id`, one item. Viewing an item does not claim it; starting to correct or reject it
 * does.
 */
export function registerItem(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get(
    '/review/:id',
    route('review', { params: ItemParams, querystring: ItemQuery }),
    async (request, reply) => {
      const { id } = request.params;
      const { edit, reject, armed, blank, ts, ...query } = request.query;
      const review = await deps.stores.reviews.find(id);
      if (review === null)
        return await sendQuestion(request, reply, deps, id, QueueQuery.parse(query), blank === '1');
      const mode = edit === '1' ? 'correct' : reject === '1' ? 'reject' : 'read';
      const heldReview = mode === 'read' ? review : await hold(deps, review, requireReviewer(request));
      const notice =
        armed === '1'
          ? 'Press a again to accept it anyway, or Esc to cancel.'
          : await describeLastAction(query, deps.stores, query.n);
      const stamps = ts === undefined ? {} : { stamps: ts === '1' };
      const looking = {
        queue: QueueQuery.parse(query),
        mode,
        armed: armed === '1',
        ...stamps,
      } as const;
      return await sendItem(request, reply, deps, heldReview, looking, { said: notice });
    },
  );
}

/**
 * Claims an item that is free, or that this reviewer holds but not for much longer. Otherwise the item keeps
 * its version.
 */
async function hold(
  { stores, config, clock }: ConsoleDeps,
  review: Review,
  reviewer: string,
): Promise<Review> {
  const now = getHold(review, reviewer);
  const leftMs = review.claimExpiresAt === null ? 0 : Date.parse(review.claimExpiresAt) - clock.now();
  if (now === 'others' || now === 'decided' || (now === 'mine' && leftMs > config.review.claimMs / 2))
    return review;
  const claimed = await stores.reviews.claim(review.id, reviewer, config.review.claimMs);
  return claimed ?? (await stores.reviews.find(review.id)) ?? review;
}

/** Sends the item's page as it stands now. */
export async function sendItem(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
  review: Review,
  looking: Omit<Looking, 'reviewer' | 'isAdmin'>,
  { said = null, status = 200 }: { readonly said?: string | null; readonly status?: number } = {},
): Promise<FastifyReply> {
  const reader = await loadReader(request, deps);
  const live = { buildId: review.buildId };
  const page = { place: 'item' as const, part: 'review' as const, live, ...(said !== null && { said }) };
  if ((await deps.stores.analyses.find(review.analysisId)) === null) {
    const main = unknownItemMain(review);
    return sendPage(request, reply, { ...page, title: review.title, main }, reader, status);
  }
  const who = { reviewer: requireReviewer(request), isAdmin: isAdmin(request) };
  const { timestamps: stamps, editor } = reader.preferences;
  const view = await readItem(deps, review, { stamps, editor, ...looking, ...who });
  return sendPage(
    request,
    reply,
    { ...page, fills: true, title: view.review.title, main: itemMain(view), bar: itemBar(view) },
    reader,
    status,
  );
}

/** Finds the item that a form is about. Throws `not-found`. */
export async function findReview({ stores }: Pick<ConsoleDeps, 'stores'>, id: string): Promise<Review> {
  const review = await stores.reviews.find(id);
  if (review === null) throw createUnknownReviewError(id);
  return review;
}

/**
 * Sends the page of a question that a running triage asks a person. `blank` is true after an empty answer.
 * Throws `not-found` if the id does not belong to a question either.
 */
async function sendQuestion(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
  id: string,
  queue: QueueQuery,
  blank: boolean,
): Promise<FastifyReply> {
  const question = await deps.stores.questions.find(id);
  if (question === null) throw createUnknownReviewError(id);
  const main = questionMain(question, queue, blank, deps.clock.now());
  const page = {
    title: question.title,
    place: 'item' as const,
    part: 'review' as const,
    main,
    bar: questionBar(question, queue),
  };
  return answerPage(request, reply, deps, page);
}

function questionMain(question: ReviewerQuestion, queue: QueueQuery, blank: boolean, now: number): Html {
  const { id, title, category, repository, buildId, openedAt, expiresAt } = question;
  return html`<div class="headline"><p class="kicker">${icon('question')}Question</p>
    <h1 tabindex="-1">${title}</h1>
    <p class="meta">${repository} · <a data-action="open" href="${buildAddress(buildId)}">build</a>
    · asked ${formatAge(openedAt, now)} ago</p></div>
    <section class="panel pad" aria-labelledby="question"><h2 id="question">Question</h2>
    <div class="lead">${prose(question.question)}</div>
    <p class="quiet">Faultline cannot tell from the evidence; its best guess so far is
    ${renderCategory(category)}. Your answer becomes evidence with your name on it.</p>
    ${
      question.state === 'waiting'
        ? answerForm(id, queue, blank, waitWords(expiresAt, now))
        : answerBanner(question)
    }</section>`;
}

function answerForm(id: string, queue: QueueQuery, blank: boolean, wait: string): Html {
  return html`<form method="post" action="${formatReviewAddress(id)}/answer"
    id="answer-form">${renderHiddenFields({ queue: formatQuery(queue) })}
    <p><label for="answer">Answer</label><textarea id="answer" name="answer"
    maxlength="4000"${blank && html` aria-invalid="true" aria-describedby="blank"`}></textarea></p>
    ${
      blank &&
      html`<p class="is-red" id="blank">The answer is empty. Enter one, or choose one of the other two
        options.</p>`
    }
    <p class="acts"><button class="main" name="how" value="answer" data-action="save">Answer
    <kbd aria-hidden="true">Ctrl+Enter</kbd></button> <button name="how" value="unknown">I don't know</button>
    <button name="how" value="not-needed">Not needed</button></p>
    <p class="quiet">${wait}</p></form>`;
}

function waitWords(expiresAt: string, now: number): string {
  const minutes = Math.max(0, Math.round((Date.parse(expiresAt) - now) / 60_000));
  const wait = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
  return `Without an answer, the analysis continues in ${wait}.`;
}

function answerBanner({ state, answer, answeredBy, answeredAt }: ReviewerQuestion): Html {
  if (state === 'expired')
    return banner('Nobody answered in time. The analysis continued without an answer.', { sign: 'clock' });
  return banner(
    html`<p>${answeredBy} answered${answeredAt !== null && html` ${renderTime(answeredAt)}`}:</p>${prose(
      answer ?? '',
    )}`,
    { sign: 'check' },
  );
}

function questionBar({ id }: ReviewerQuestion, queue: QueueQuery): Html {
  return html`<a class="btn" data-action="next" href="/review/next${formatQuery(queue, { after: id })}"
    data-swap>Next item <kbd aria-hidden="true">j</kbd></a>
    <a class="btn" href="/review${formatQuery({ ...queue, n: undefined, of: undefined })}"
    data-swap>Queue</a>${keysLink()}`;
}
