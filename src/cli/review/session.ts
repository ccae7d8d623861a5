import { styleText } from 'node:util';
import { z } from 'zod';
import { isNotDevelopersFault } from '../../domain/analysis.ts';
import { Build } from '../../domain/build.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { nameCategory } from '../../domain/category-words.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import {
  DecisionInput,
  findTouchedSuspects,
  REJECT_REASONS,
  RejectReason,
  Review,
  ReviewCounts,
  type ShownBy,
} from '../../domain/review.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { renderTerminal } from '../../service/answers/render.ts';
import {
  DecisionView,
  LastDecisionView,
  NextView,
  ReviewDetail,
  UndoView,
} from '../../service/review/views.ts';
import { askServer, type Service } from '../server-client.ts';
import { KEYS, type KeyAction, type KeyReader } from './keys.ts';

interface SessionParts {
  readonly client: ReviewClient;
  readonly keys: KeyReader;
  readonly write: (text: string) => void;
  readonly look: ReviewLook;
}

/** The counts of a session, for its last line. */
export interface SessionDone {
  decided: number;
  skipped: number;
  /** True if it was left with Ctrl-C or at the end of input. */
  interrupted: boolean;
}

/** The outcome of an item. `again` shows it once more. */
type Left = 'next' | 'again' | 'quit' | 'interrupted' | { readonly show: string };

/**
 * Works through the queue, item by item, until the user quits or no item waits. `first` is shown before all
 * others.
 */
export async function runReviewSession(parts: SessionParts, first?: string): Promise<SessionDone> {
  const done: SessionDone = { decided: 0, skipped: 0, interrupted: false };
  let current: Review | null =
    first === undefined ? await parts.client.next() : await parts.client.claim(first);
  while (current !== null) {
    const left: Left = await reviewItem(current.id, parts, done);
    if (left === 'quit' || left === 'interrupted') {
      await parts.client.release(current.id).catch(() => undefined);
      done.interrupted = left === 'interrupted';
      return done;
    }
    if (typeof left === 'object') current = await parts.client.claim(left.show);
    else if (left === 'next') current = await parts.client.next(current.id);
  }
  parts.write(`${formatEmptyText(await parts.client.counts())}\n`);
  return done;
}

async function reviewItem(id: string, parts: SessionParts, done: SessionDone): Promise<Left> {
  const { client, keys, write, look } = parts;
  const [item, counts] = await Promise.all([client.read(id), client.counts()]);
  // Keys typed until now were meant for something else.
  keys.drop();
  write(`\n${formatItemText(item, counts, look)}\n`);
  for (;;) {
    const key = await keys.key();
    if (key === null) return 'interrupted';
    const action = KEYS.find((binding) => binding.key === key)?.action;
    const left =
      action === undefined
        ? reportUndecided(parts, '')
        : await act(action, item, parts, done).catch((error: unknown) => printRefusal(error, parts));
    if (left !== null) return left;
  }
}

/** Performs an action. Returns null if the item stays on the screen. */
async function act(
  action: KeyAction,
  item: Item,
  parts: SessionParts,
  done: SessionDone,
): Promise<Left | null> {
  switch (action) {
    case 'accept':
      return (await isArmed(item, parts))
        ? await decide({ type: 'accept' }, item, parts, done)
        : reportUndecided(parts);
    case 'correct': {
      const correction = await askCorrection(item, parts);
      return correction === null ? reportUndecided(parts) : await decide(correction, item, parts, done);
    }
    case 'reject':
      return await reject(item, parts, done);
    case 'skip':
      await parts.client.skip(item.review.id);
      done.skipped += 1;
      parts.write('Skipped. It stays in the queue.\n');
      return 'next';
    case 'undo':
      return await undo(item, parts);
    case 'help':
      parts.write(`${helpText()}\n`);
      return null;
    case 'quit':
      return 'quit';
  }
}

async function decide(
  decision: DecisionInput,
  { review }: Item,
  { client, write }: SessionParts,
  done: SessionDone,
): Promise<Left> {
  const teaching = await client.decide(review, decision);
  done.decided += 1;
  write(
    `${decision.type === 'correct' ? 'Corrected' : decision.type === 'accept' ? 'Accepted' : 'Rejected'}. ${toVisibleLine(teaching)} Press u to undo.\n`,
  );
  return 'next';
}

/** Requires a second key press before "not your fault" is accepted for a change that touches a suspect. */
async function isArmed({ analysis, build }: Item, { keys, write }: SessionParts): Promise<boolean> {
  const overlap =
    build === null || !isNotDevelopersFault(analysis) ? [] : findTouchedSuspects(build, analysis);
  if (overlap.length === 0) return true;
  write(
    `The change touches ${toVisibleLine(overlap[0] ?? '')}. Press a again to accept anyway, any other ` +
      'key to cancel.\n',
  );
  // The first key press may still be held.
  keys.drop();
  return (await keys.key()) === 'a';
}

async function reject(item: Item, parts: SessionParts, done: SessionDone): Promise<Left | null> {
  parts.write(`${formatReasonChoices()}\n`);
  const digit = await readDigit(parts.keys, RejectReason.options.length);
  const reasonCode = digit === null ? undefined : RejectReason.options[digit - 1];
  return reasonCode === undefined
    ? reportUndecided(parts)
    : await decide({ type: 'reject', reasonCode }, item, parts, done);
}

async function undo({ review }: Item, { client, write }: SessionParts): Promise<Left | null> {
  const undone = await client.undoLast();
  write(
    undone === null
      ? 'You have no decision to undo.\n'
      : `Undone: ${toVisibleLine(undone.title)} is back in the queue.\n`,
  );
  if (undone === null) return null;
  await client.release(review.id).catch(() => undefined);
  return { show: undone.id };
}

/** Reads a digit from 1 to `highest`. Returns 0 for any other key, and null if the user leaves. */
async function readDigit(keys: KeyReader, highest: number): Promise<number | null> {
  const key = await keys.key();
  if (key === null) return null;
  return /^[1-9]$/.test(key) && Number(key) <= highest ? Number(key) : 0;
}

function reportUndecided({ write, look }: SessionParts, message = 'Nothing was decided.\n'): null {
  write(`${message}${formatFootText(look)}\n`);
  return null;
}

/** Prints the service's reason for a refusal. After a conflict the session moves on to the next item. */
function printRefusal(error: unknown, { write }: SessionParts): Left | null {
  if (!(error instanceof TriageError)) throw error;
  write(`Not saved: ${toVisibleLine(getErrorMessage(error))}\n`);
  return error.code === 'conflict' ? 'next' : null;
}

/**
 * Asks for the category, the cause, the fix and the evidence. Returns null if the reviewer cancels. Nothing
 * is sent unless the reviewer presses y.
 */
async function askCorrection(
  { analysis }: Item,
  { keys, write }: SessionParts,
): Promise<DecisionInput | null> {
  write(`${formatCategoryChoices()}\n`);
  const category = CATEGORIES[Number(await keys.key()) - 1];
  if (category === undefined) return null;
  write(`${nameCategory(category)}\n`);
  const rootCause = await keys.line('Cause     ', toVisibleLine(analysis.answer.rootCause));
  if (rootCause === null) return null;
  const fix = await keys.line('Fix       ', toVisibleLine(analysis.answer.fixRecommendation));
  if (fix === null) return null;
  const known = analysis.evidence.map(({ id }) => id);
  const cited = [...new Set(analysis.answer.claims.flatMap(({ evidence }) => evidence))].filter((id) =>
    known.includes(id),
  );
  const answered = await keys.line(`Shown by  (${known.slice(0, 12).join(' ')}, or none)  `, cited.join(' '));
  if (answered === null) return null;
  write(`Send this correction as ${nameCategory(category)}? Press y to send, any other key to cancel.\n`);
  if ((await keys.key()) !== 'y') return null;
  const shownBy = parseShownBy(answered, known);
  return DecisionInput.parse({
    type: 'correct',
    category,
    ...(rootCause.trim() === '' ? {} : { rootCause: rootCause.trim() }),
    ...(fix.trim() === '' ? {} : { fixRecommendation: fix.trim() }),
    ...(shownBy === null ? {} : { shownBy }),
  });
}

/** Parses "E1 E3" or "none". Returns null if nothing valid was entered. */
function parseShownBy(text: string, known: readonly string[]): ShownBy | null {
  if (text.trim().toLowerCase() === 'none') return 'none';
  const evidence = text
    .split(/[\s,]/)
    .map((word) => word.toUpperCase())
    .filter((word) => known.includes(word));
  return evidence.length === 0 ? null : { evidence: [...new Set(evidence)], lines: [] };
}

interface ReviewLook {
  readonly color: boolean;
  readonly width: number;
}

/**
 * Formats an item in full: its origin, the answer, the reasons for the review, and the conflicting evidence.
 */
function formatItemText({ review, analysis, whose }: Item, counts: ReviewCounts, look: ReviewLook): string {
  const answer = renderTerminal(analysis, { ...look, why: review.why, whose }).trimEnd();
  return [formatHeadText(review, counts, look), answer, formatFootText(look)].join('\n');
}

function formatCategoryChoices(): string {
  return CATEGORIES.map((category, index) => `${index + 1} ${nameCategory(category)}`).join('   ');
}

function formatReasonChoices(): string {
  return RejectReason.options.map((reason, index) => `${index + 1} ${REJECT_REASONS[reason]}`).join('   ');
}

function formatFootText({ color }: Pick<ReviewLook, 'color'>): string {
  const words = KEYS.map(({ key, action }) => `${key} ${action}`).join('   ');
  return color ? styleText('dim', words, { validateStream: false }) : words;
}

function helpText(): string {
  const rows = KEYS.map(({ key, does }) => `  ${key}  ${does}`);
  return `${rows.join('\n')}\nEnter, Space and Backspace never decide.`;
}

/**
 * Formats the message for an empty queue: "The queue is empty. 17 decided today, 96 % agreed with Faultline."
 */
function formatEmptyText({ decidedToday, agreedToday }: ReviewCounts): string {
  if (decidedToday === 0) return 'The queue is empty.';
  return (
    `The queue is empty. ${decidedToday} decided ` +
    `today, ${Math.floor((agreedToday / decidedToday) * 100)} % agreed with Faultline.`
  );
}

function formatHeadText(
  { repository, pullRequest, id }: Review,
  { waiting }: ReviewCounts,
  look: ReviewLook,
): string {
  const pull = pullRequest === null ? '' : ` · PR ${pullRequest}`;
  return drawRule(`${toVisibleLine(repository)}${pull} · ${id} · ${waiting} waiting`, look);
}

function drawRule(title: string, { width }: ReviewLook): string {
  return `── ${title} ${'─'.repeat(Math.max(0, width - title.length - 4))}`;
}

/** An item with everything that is shown. */
export type Item = Awaited<ReturnType<ReviewClient['read']>>;
export type ReviewClient = ReturnType<typeof openReviewClient>;

const BuildAnswer = z.object({ build: Build });

/**
 * Opens the queue of a running service for one reviewer. Methods throw TriageError with the service's
 * message.
 */
export function openReviewClient(server: Service) {
  const at = (id: string, rest = '') => `/api/reviews/${encodeURIComponent(id)}${rest}`;
  const post = <Value>(path: string, schema: z.ZodType<Value>, body: object = {}) =>
    askServer(server, 'POST', path, schema, body);
  return {
    counts: async () => await askServer(server, 'GET', '/api/reviews/counts', ReviewCounts),
    /** Claims the next item. Returns null if no item waits for this reviewer. */
    next: async (after?: string) =>
      (await post('/api/reviews/next', NextView, { sort: 'risk', ...(after === undefined ? {} : { after }) }))
        .review,
    claim: async (id: string) => await post(at(id, '/claim'), Review),
    read: async (id: string) => {
      const { review, analysis, whose } = await askServer(server, 'GET', at(id), ReviewDetail);
      const build = await askServer(
        server,
        'GET',
        `/api/builds/${encodeURIComponent(review.buildId)}`,
        BuildAnswer,
      ).catch(() => null);
      // A build that cannot be read is null.
      return { review, analysis, whose, build: build?.build ?? null };
    },
    /** Returns the review of an analysis. Opens a review if there is none. */
    ofAnalysis: async (id: string) => await post(`/api/analyses/${encodeURIComponent(id)}/review`, Review),
    /** Decides a review. Returns a sentence about the lesson. */
    decide: async ({ id, version }: Review, decision: DecisionInput) =>
      (await post(at(id, '/decision'), DecisionView, { ...decision, version })).teaching,
    skip: async (id: string) => void (await post(at(id, '/skip'), Review)),
    release: async (id: string) => void (await post(at(id, '/release'), Review)),
    /** Undoes this reviewer's newest decision. Returns null if there is none. */
    undoLast: async () => {
      const { decision } = await askServer(server, 'GET', '/api/reviews/last-decision', LastDecisionView);
      return decision === null ? null : (await post(at(decision.reviewId, '/undo'), UndoView)).review;
    },
  };
}
