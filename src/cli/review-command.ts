import { z } from 'zod';
import { Analysis } from '../domain/analysis.ts';
import { ReviewerQuestion } from '../domain/question.ts';
import { type DecisionInput, Review } from '../domain/review.ts';
import { renderPlain, renderTerminal } from '../publish/render.ts';
import { visibleLine } from '../publish/visible-text.ts';
import { askServer } from './server-client.ts';
import { print, voiceOf } from './terminal.ts';

export interface ReviewCommandOptions {
  readonly url: string;
  readonly token: string;
  readonly json?: boolean;
}

const Listed = z.object({ items: z.array(Review), questions: z.array(ReviewerQuestion).default([]) });
const Detail = z.object({ review: Review, analysis: Analysis });
const Decided = z.looseObject({ review: Review });

/** `faultline review list`: what waits for a person, the oldest first. */
export async function listReviews(options: ReviewCommandOptions & { readonly state?: string }): Promise<void> {
  const query = options.state === undefined ? '' : `?state=${encodeURIComponent(options.state)}`;
  const { items, questions } = await askServer(options, 'GET', `/api/reviews${query}`, Listed);
  if (options.json) return print(JSON.stringify({ ok: true, items, questions }));
  const rows = [...questions.map(questionRow), ...items.map(rowOf)];
  return print(rows.length === 0 ? 'Nothing waits.' : rows.join('\n'));
}

/** `faultline review show ID`: the answer that waits, as the terminal shows any answer, and why it waits. */
export async function showReview(id: string, options: ReviewCommandOptions): Promise<void> {
  const { review, analysis } = await askServer(options, 'GET', `/api/reviews/${encodeURIComponent(id)}`, Detail);
  if (options.json) return print(JSON.stringify({ ok: true, review, analysis }));
  const voice = voiceOf({});
  const body = voice.color ? renderTerminal(analysis, voice) : renderPlain(analysis);
  return print(`${rowOf(review)}\nWhy a person: ${review.why.map(visibleLine).join('; ')}\n\n${body}`);
}

/** `faultline review claim|release ID`. */
export async function holdReview(id: string, act: 'claim' | 'release', options: ReviewCommandOptions): Promise<void> {
  const review = await askServer(
    options,
    'POST',
    `/api/reviews/${encodeURIComponent(id)}/${act}`,
    z.union([Review, Decided.transform((value) => value.review)]),
    {},
  );
  return print(options.json ? JSON.stringify({ ok: true, review }) : rowOf(review));
}

/** `faultline review answer ID TEXT`: the run that asked goes on. */
export async function answerQuestion(id: string, answer: string, options: ReviewCommandOptions): Promise<void> {
  const question = await askServer(options, 'POST', `/api/reviews/${encodeURIComponent(id)}/answer`, ReviewerQuestion, { answer });
  return print(options.json ? JSON.stringify({ ok: true, question }) : `answered · ${questionRow(question)}`);
}

/** `faultline review accept|correct|reject ID`: decides on the version that was current a moment ago. */
export async function decideReview(id: string, decision: DecisionInput, options: ReviewCommandOptions): Promise<void> {
  const path = `/api/reviews/${encodeURIComponent(id)}`;
  const { review } = await askServer(options, 'GET', path, Detail);
  const outcome = await askServer(options, 'POST', `${path}/decision`, Decided, { ...decision, version: review.version });
  return print(options.json ? JSON.stringify({ ok: true, ...outcome }) : `${decision.type}ed · ${rowOf(outcome.review)}`);
}

function questionRow({ id, category, state, repository, question }: ReviewerQuestion): string {
  return `${id}  question  ${category.padEnd(16)}  ${state}  ${visibleLine(repository)}  ${visibleLine(question)}`;
}

function rowOf(review: Review): string {
  const held = review.state === 'claimed' ? `held by ${review.claimedBy}` : review.state;
  const confidence = `${Math.round(review.confidence * 100)} %`.padStart(5);
  return `${review.id}  ${confidence}  ${review.category.padEnd(16)}  ${held}  ${visibleLine(review.repository)}  ${visibleLine(review.title)}`;
}
