import { z } from 'zod';
import { nameCategory } from '../../domain/category-words.ts';
import { TriageError } from '../../domain/errors.ts';
import { type DecisionInput, formatItemCategory, Review, ReviewerQuestion } from '../../domain/review.ts';
import { formatConfidence } from '../../lib/text.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { renderPlain, renderTerminal } from '../../service/answers/render.ts';
import { ReviewDetail, UndoView } from '../../service/review/views.ts';
import { resolveService, type ServerOptions } from '../command-parts.ts';
import { askServer } from '../server-client.ts';
import { createOutputStyle, EXIT, printResult, say } from '../terminal.ts';

const Listed = z.object({ items: z.array(Review), questions: z.array(ReviewerQuestion).default([]) });
const Detail = ReviewDetail.pick({ review: true, analysis: true, whose: true });
const Decided = z.looseObject({ review: Review });

/**
 * Runs `faultline review list`: shows the items that wait for a person, oldest first; with `--all`, also held
 * and decided items.
 */
export async function listReviews(
  options: ServerOptions & { readonly state?: string; readonly all?: boolean },
): Promise<void> {
  const query = options.all === true ? '' : `?state=${encodeURIComponent(options.state ?? 'waiting')}`;
  const { items, questions } = await askServer(
    await resolveService(options),
    'GET',
    `/api/reviews${query}`,
    Listed,
  );
  const rows = [...questions.map(formatQuestionRow), ...items.map(formatRow)];
  return printResult(
    options,
    { items, questions },
    rows.length === 0 ? 'The queue is empty.' : rows.join('\n'),
  );
}

/**
 * Runs `faultline review show ID`: shows the waiting answer as the terminal shows every answer, and the
 * reason why it waits.
 */
export async function showReview(id: string, options: ServerOptions): Promise<void> {
  const { review, analysis, whose } = await askServer(
    await resolveService(options),
    'GET',
    `/api/reviews/${encodeURIComponent(id)}`,
    Detail,
  );
  const style = createOutputStyle({});
  const body = style.color ? renderTerminal(analysis, { ...style, whose }) : renderPlain(analysis, { whose });
  return printResult(
    options,
    { review, analysis, whose },
    `${formatRow(review)}\nNeeds review because: ${review.why.map(toVisibleLine).join('; ')}\n\n${body}`,
  );
}

/** Runs `faultline review claim|release|skip ID`. */
export async function holdReview(
  id: string,
  act: 'claim' | 'release' | 'skip',
  options: ServerOptions,
): Promise<void> {
  const Held = z.union([Review, Decided.transform((value) => value.review)]);
  const review = await askServer(
    await resolveService(options),
    'POST',
    `/api/reviews/${encodeURIComponent(id)}/${act}`,
    Held,
    {},
  );
  return printResult(options, { review }, formatRow(review));
}

/**
 * Runs `faultline review undo ID`: undoes the user's own decision or, with the role admin, the decision of
 * any user.
 */
export async function undoReview(id: string, options: ServerOptions): Promise<void> {
  const outcome = await askServer(
    await resolveService(options),
    'POST',
    `/api/reviews/${encodeURIComponent(id)}/undo`,
    UndoView,
    {},
  );
  const what =
    outcome.undone.length === 0
      ? 'already undone'
      : outcome.undone.length === 1
        ? 'undone'
        : `${outcome.undone.length} undone`;
  return printResult(options, outcome, `${what} · ${formatRow(outcome.review)}`);
}

/** Runs `faultline review [ID]`: shows the queue on a terminal, one item at a time. */
export async function workThroughQueue(id: string | undefined, options: ServerOptions): Promise<void> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true || options.json === true) {
    const message =
      'Working through the queue needs a terminal. Without one, use: ' +
      'faultline review list, then show, accept, correct or reject.';
    throw new TriageError('invalid-config', message);
  }
  const { openReviewClient, runReviewSession } = await import('./session.ts');
  const { readKeys } = await import('./keys.ts');
  const client = openReviewClient(await resolveService(options));
  const first = id?.startsWith('ana_') ? (await client.ofAnalysis(id)).id : id;
  const keys = readKeys({ input: process.stdin, output: process.stdout });
  try {
    const done = await runReviewSession(
      { client, keys, write: (text) => void process.stdout.write(text), look: createOutputStyle({}) },
      first,
    );
    say(`${done.decided} decided, ${done.skipped} skipped.`);
    if (done.interrupted) process.exitCode = EXIT.interrupted;
  } finally {
    keys.close();
  }
}

/** Runs `faultline review answer ID TEXT`. The run that asked then continues. */
export async function answerQuestion(id: string, answer: string, options: ServerOptions): Promise<void> {
  const question = await askServer(
    await resolveService(options),
    'POST',
    `/api/reviews/${encodeURIComponent(id)}/answer`,
    ReviewerQuestion,
    {
      answer,
    },
  );
  return printResult(options, { question }, `answered · ${formatQuestionRow(question)}`);
}

/** Runs `faultline review accept|correct|reject ID`: decides on the version that was current a moment ago. */
export async function decideReview(
  id: string,
  decision: DecisionInput,
  options: ServerOptions,
): Promise<void> {
  const [server, path] = [await resolveService(options), `/api/reviews/${encodeURIComponent(id)}`];
  const { review } = await askServer(server, 'GET', path, Detail);
  const outcome = await askServer(server, 'POST', `${path}/decision`, Decided, {
    ...decision,
    version: review.version,
  });
  return printResult(options, outcome, `${decision.type}ed · ${formatRow(outcome.review)}`);
}

function formatQuestionRow({ id, category, state, repository, question }: ReviewerQuestion): string {
  const place = `${state}  ${toVisibleLine(repository)}`;
  return `${id}  question  ${nameCategory(category).padEnd(16)}  ${place}  ${toVisibleLine(question)}`;
}

function formatRow(review: Review): string {
  const claim = review.state === 'claimed' ? `held by ${review.claimedBy}` : review.state;
  const confidence = formatConfidence(review.confidence).padStart(5);
  return `${review.id}  ${confidence}  ${formatItemCategory(review).padEnd(16)}  ${claim}  ${toVisibleLine(review.repository)}  ${toVisibleLine(review.title)}`;
}
