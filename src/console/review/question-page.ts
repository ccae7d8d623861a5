import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ReviewerQuestion } from '../../domain/review.ts';
import { unknownReview } from '../../review/conflicts.ts';
import { buildAddress, reviewAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { ageOf, timeOf } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { sendPage } from '../page.ts';
import { prose } from '../prose.ts';
import { readerOf } from '../reader.ts';
import { type QueueQuery, searchOf } from './queue-query.ts';

/** What a running triage asks a person; `blank`: an empty answer was sent. Throws `not-found` where it is no question either. */
export async function sendQuestion(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
  id: string,
  around: Omit<Around, 'now'>,
): Promise<FastifyReply> {
  const question = await deps.stores.questions.find(id);
  if (question === null) throw unknownReview(id);
  const main = questionMain(question, { ...around, now: deps.clock.now() });
  const page = { title: question.title, place: 'item' as const, part: 'review' as const, main, bar: questionBar(question, around.queue) };
  return sendPage(request, reply, page, await readerOf(request, deps));
}

interface Around {
  readonly queue: QueueQuery;
  readonly now: number;
  readonly blank: boolean;
}

function questionMain(question: ReviewerQuestion, { queue, now, blank }: Around): Html {
  const { id, title, category, repository, buildId, openedAt, expiresAt } = question;
  return html`<div class="item"><div class="headline"><h1 tabindex="-1">${title}</h1><p class="position">question</p></div>
<p class="place">${repository} · <a data-action="open" href="${buildAddress(buildId)}">build</a> · asked ${ageOf(openedAt, now)} ago</p>
<section class="card" aria-labelledby="question"><h2 id="question">Question</h2><div class="cause">${prose(question.question)}</div>
<p class="quiet">Faultline cannot tell from the evidence; its best guess so far is <span class="category">${category}</span>. Your answer becomes evidence with your name on it.</p>
${question.state === 'waiting' ? answerForm(id, { queue, blank }, waitWords(expiresAt, now)) : answered(question)}</section></div>`;
}

function answerForm(id: string, { queue, blank }: Pick<Around, 'queue' | 'blank'>, wait: string): Html {
  return html`<form method="post" action="${reviewAddress(id)}/answer" id="answer-form"><input type="hidden" name="queue" value="${searchOf(queue)}">
<p><label for="answer">Answer</label><textarea id="answer" name="answer" maxlength="4000"${blank && html` aria-invalid="true" aria-describedby="blank"`}></textarea></p>
${blank && html`<p class="wrong" id="blank">The answer is empty. Enter one, or choose one of the other two options.</p>`}
<p class="acts"><button class="first" name="how" value="answer" data-action="save">Answer <kbd aria-hidden="true">Ctrl+Enter</kbd></button> <button name="how" value="unknown">I don't know</button> <button name="how" value="not-needed">Not needed</button></p>
<p class="quiet">${wait}</p></form>`;
}

function waitWords(expiresAt: string, now: number): string {
  const minutes = Math.max(0, Math.round((Date.parse(expiresAt) - now) / 60_000));
  const wait = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
  return `Without an answer, the analysis continues in ${wait}.`;
}

function answered({ state, answer, answeredBy, answeredAt }: ReviewerQuestion): Html {
  if (state === 'expired') return html`<p class="banner">Nobody answered in time. The analysis continued without an answer.</p>`;
  return html`<div class="banner"><p>${answeredBy} answered${answeredAt !== null && html` ${timeOf(answeredAt)}`}:</p>${prose(answer ?? '')}</div>`;
}

function questionBar({ id }: ReviewerQuestion, queue: QueueQuery): Html {
  return html`<a class="button" data-action="next" href="/review/next${searchOf(queue, { after: id })}" data-swap>Next item <kbd aria-hidden="true">j</kbd></a>
<a class="button" href="/review${searchOf({ ...queue, n: undefined, of: undefined })}" data-swap>Queue</a><a class="button" data-action="keys" href="/me#keys-here">Keys <kbd aria-hidden="true">?</kbd></a>`;
}
