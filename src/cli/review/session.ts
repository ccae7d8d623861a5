import { isNotDevelopersFault } from '../../domain/analysis.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { type DecisionInput, overlapOf, RejectReason, type Review } from '../../domain/review.ts';
import { visibleLine } from '../../publish/visible-text.ts';
import type { Item, ReviewClient } from './client.ts';
import { askCorrection } from './correct.ts';
import { KEYS, type KeyAction, type KeyReader } from './keys.ts';
import { blindText, emptyText, footText, helpText, itemText, type ReviewLook, reasonChoices } from './text.ts';

export interface SessionParts {
  readonly client: ReviewClient;
  readonly keys: KeyReader;
  readonly write: (text: string) => void;
  readonly look: ReviewLook;
}

/** What was done, for the last line. */
export interface SessionDone {
  decided: number;
  skipped: number;
  /** Left with Ctrl-C or at the end of input. */
  interrupted: boolean;
}

/** How an item was left. `again` shows it once more. */
type Left = 'next' | 'again' | 'quit' | 'interrupted' | { readonly show: string };

/** Works through the queue, item by item, until somebody leaves or nothing waits. `first` is shown before all others. */
export async function runReviewSession(parts: SessionParts, first?: string): Promise<SessionDone> {
  const done: SessionDone = { decided: 0, skipped: 0, interrupted: false };
  let current: Review | null = first === undefined ? await parts.client.next() : await parts.client.claim(first);
  while (current !== null) {
    const left: Left = await workOn(current.id, parts, done);
    if (left === 'quit' || left === 'interrupted') {
      await parts.client.release(current.id).catch(() => undefined);
      done.interrupted = left === 'interrupted';
      return done;
    }
    if (typeof left === 'object') current = await parts.client.claim(left.show);
    else if (left === 'next') current = await parts.client.next(current.id);
  }
  parts.write(`${emptyText(await parts.client.counts())}\n`);
  return done;
}

async function workOn(id: string, parts: SessionParts, done: SessionDone): Promise<Left> {
  const { client, keys, write, look } = parts;
  const [item, counts] = await Promise.all([client.read(id), client.counts()]);
  // Whatever was typed until now was meant for something else.
  keys.drop();
  if (item.blind) {
    write(`\n${blindText(item, counts, look)}\n`);
    const key = await keys.key();
    if (key === null) return 'interrupted';
    if (key === 'q') return 'quit';
    const category = CATEGORIES[Number(key) - 1];
    if (category !== undefined) await client.guess(id, category);
    return 'again';
  }
  write(`\n${itemText(item, counts, look)}\n`);
  for (;;) {
    const key = await keys.key();
    if (key === null) return 'interrupted';
    const action = KEYS.find((one) => one.key === key)?.action;
    const left =
      action === undefined ? ignored(parts) : await act(action, item, parts, done).catch((error: unknown) => refused(error, parts));
    if (left !== null) return left;
  }
}

/** Null: the item stays. */
async function act(action: KeyAction, item: Item, parts: SessionParts, done: SessionDone): Promise<Left | null> {
  switch (action) {
    case 'accept':
      return (await isArmed(item, parts)) ? await decide({ type: 'accept' }, item, parts, done) : kept(parts);
    case 'correct': {
      const correction = await askCorrection(item, parts);
      return correction === null ? kept(parts) : await decide(correction, item, parts, done);
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

async function decide(decision: DecisionInput, { review }: Item, { client, write }: SessionParts, done: SessionDone): Promise<Left> {
  const teaching = await client.decide(review, decision);
  done.decided += 1;
  write(
    `${decision.type === 'correct' ? 'Corrected' : decision.type === 'accept' ? 'Accepted' : 'Rejected'}. ${visibleLine(teaching)} Press u to undo.\n`,
  );
  return 'next';
}

/** "Not your fault", said of a change that touches a suspect, is accepted by a second press only. */
async function isArmed({ analysis, build }: Item, { keys, write }: SessionParts): Promise<boolean> {
  const overlap = build === null || !isNotDevelopersFault(analysis) ? [] : overlapOf(build, analysis);
  if (overlap.length === 0) return true;
  write(`The change touches ${visibleLine(overlap[0] ?? '')}. Press a again to accept anyway, any other key to cancel.\n`);
  // The press that armed it may still be held.
  keys.drop();
  return (await keys.key()) === 'a';
}

async function reject(item: Item, parts: SessionParts, done: SessionDone): Promise<Left | null> {
  parts.write(`${reasonChoices()}\n`);
  const digit = await digitOf(parts.keys, RejectReason.options.length);
  const reasonCode = digit === null ? undefined : RejectReason.options[digit - 1];
  return reasonCode === undefined ? kept(parts) : await decide({ type: 'reject', reasonCode }, item, parts, done);
}

async function undo({ review }: Item, { client, write }: SessionParts): Promise<Left | null> {
  const undone = await client.undoLast();
  write(undone === null ? 'You have no decision to undo.\n' : `Undone: ${visibleLine(undone.title)} is back in the queue.\n`);
  if (undone === null) return null;
  await client.release(review.id).catch(() => undefined);
  return { show: undone.id };
}

/** A digit of 1 to `highest`; 0 for any other key, null where the reader leaves. */
async function digitOf(keys: KeyReader, highest: number): Promise<number | null> {
  const key = await keys.key();
  if (key === null) return null;
  return /^[1-9]$/.test(key) && Number(key) <= highest ? Number(key) : 0;
}

function kept({ write, look }: SessionParts): null {
  write(`Nothing was decided.\n${footText(look)}\n`);
  return null;
}

function ignored({ write, look }: SessionParts): null {
  write(`${footText(look)}\n`);
  return null;
}

/** What the service refuses is said; a conflict shows the item as it stands now. */
function refused(error: unknown, { write }: SessionParts): Left | null {
  if (!(error instanceof TriageError)) throw error;
  write(`Not saved: ${visibleLine(messageOf(error))}\n`);
  return error.code === 'conflict' ? 'next' : null;
}
