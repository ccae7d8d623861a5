import { TriageError } from '../../domain/errors.ts';
import { indexChanges, indexChangesWithout, isInUse, type LibraryEntry } from '../../domain/library.ts';
import type { Decision, Review } from '../../domain/review.ts';
import type { WorkRequest } from '../../domain/work.ts';
import { append } from '../../lib/collections.ts';
import { toStorable } from '../../lib/text.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { Sql } from '../../ports/database.ts';
import { type DecideDeps, requestNotices } from './decide.ts';
import {
  createNotDecidedError,
  createOutdatedError,
  createRacedError,
  createUnknownReviewError,
  getDecidedBy,
} from './queue.ts';
import type { TeachView, UndoView } from './views.ts';

export type UndoDeps = Pick<DecideDeps, 'database' | 'stores' | 'indexNow' | 'logger' | 'failpoint'>;

interface UndoRequest {
  readonly reviewId: string;
  /** The user who undoes the decision: the reviewer who made it, or an admin. */
  readonly reviewer: string;
  readonly isAdmin: boolean;
  /** The version that the reviewer saw; any version if absent. */
  readonly version?: number;
}

/**
 * Undoes a decision with all its effects: the items wait again, its lessons are withdrawn, the entries that
 * these replaced are used again, and an event is added to the audit trail. Decisions that were made together
 * are undone together. A repeated call by the same person changes nothing. Throws TriageError `not-found`,
 * `forbidden` (another user's decision), or `conflict` (not decided, outdated version) with the review in its
 * details.
 */
export async function undoDecision(deps: UndoDeps, request: UndoRequest): Promise<UndoView> {
  const outcome = await deps.database.transaction(async (sql) => {
    const undone = await takeBack(deps, request, sql);
    deps.failpoint?.('deciding', request.reviewId);
    return undone;
  });
  deps.failpoint?.('decided', request.reviewId);
  const { undone, withdrawn, restored } = outcome;
  const ids = [...withdrawn, ...restored].map(({ id }) => id);
  if (ids.length > 0) await deps.indexNow?.('error_library', ids);
  const facts = {
    reviewId: request.reviewId,
    by: request.reviewer,
    decisions: undone.length,
    withdrawn: withdrawn.length,
  };
  if (undone.length > 0) deps.logger.info(facts, 'decision undone');
  return outcome;
}

/** Performs all changes in one transaction. */
async function takeBack(deps: UndoDeps, request: UndoRequest, sql: Sql): Promise<UndoView> {
  const { reviews, work } = deps.stores;
  const review = await reviews.find(request.reviewId, sql);
  if (review === null) throw createUnknownReviewError(request.reviewId);
  if (review.decision === null) return await getUndoneBefore(deps, review, request, sql);
  const { decision } = review;
  if (decision.reviewer !== request.reviewer && !request.isAdmin)
    throw new TriageError('forbidden', getDecidedBy(decision));
  if (request.version !== undefined && request.version !== review.version)
    throw createOutdatedError(review, request.version);
  const undone = decision.batchId === undefined ? [decision] : await reviews.batch(decision.batchId, sql);
  let waiting: Review | null = null;
  const reopened: Review[] = [];
  for (const event of undone) {
    const now = await reviews.undo(event, request.reviewer, sql);
    if (now === null) throw createRacedError(review);
    reopened.push(now);
    if (event.reviewId === review.id) waiting = now;
  }
  if (waiting === null) throw createRacedError(review);
  const lessons = await withdrawLessons(deps, undone, request.reviewer, sql);
  await work.add(lessons.changes, sql);
  await requestNotices(deps.stores.notices, reopened, 0, sql);
  return { review: waiting, undone, withdrawn: lessons.withdrawn, restored: lessons.restored };
}

async function getUndoneBefore(
  deps: UndoDeps,
  review: Review,
  { reviewer }: UndoRequest,
  sql: Sql,
): Promise<UndoView> {
  const last = await deps.stores.reviews.lastUndone(review.id, sql);
  if (last?.by !== reviewer) throw createNotDecidedError(review);
  return { review, undone: [], withdrawn: [], restored: [] };
}

async function withdrawLessons(deps: UndoDeps, undone: readonly Decision[], by: string, sql: Sql) {
  const { library } = deps.stores;
  const withdrawn: LibraryEntry[] = [];
  const restored: LibraryEntry[] = [];
  const changes: WorkRequest[] = [];
  for (const { id } of undone) {
    for (const entry of await library.ofDecision(id, sql)) {
      await library.alone({ fingerprint: entry.fingerprint.value, repository: entry.repository }, sql);
      const gone = await library.withdraw(entry.id, by, 'The decision was undone.', sql);
      if (gone === null) continue;
      const answering = await library.recall(
        { fingerprint: gone.fingerprint.value, repository: gone.repository },
        sql,
      );
      withdrawn.push(gone);
      if (answering !== null) restored.push(answering);
      append(changes, indexChangesWithout(gone, answering));
    }
  }
  return { withdrawn, restored, changes };
}

export type TeachDeps = Pick<DecideDeps, 'database' | 'indexNow' | 'logger'> & {
  readonly stores: Pick<DecideDeps['stores'], 'library' | 'work'>;
  readonly masker: Pick<Masker, 'mask'>;
};

/**
 * Withdraws an entry, so that it is no longer recalled or found. The entry that it had replaced is used
 * again. A repeated call changes nothing. Throws `not-found`, and `invalid-input` for a blank reason.
 */
export async function withdrawEntry(
  deps: TeachDeps,
  { id, by, reason }: { readonly id: string; readonly by: string; readonly reason: string },
): Promise<TeachView> {
  if (reason.trim() === '')
    throw new TriageError('invalid-input', 'Enter a reason for withdrawing the entry.');
  await requireEntry(deps, id);
  const maskedReason = (await deps.masker.mask(toStorable(reason))).text;
  return await change(
    deps,
    id,
    'library entry withdrawn',
    (sql) => deps.stores.library.withdraw(id, by, maskedReason, sql),
    by,
  );
}

/**
 * Puts an entry back into use that the same person withdrew. Throws `not-found`, and `conflict` for others.
 */
export async function restoreEntry(
  deps: TeachDeps,
  { id, by }: { readonly id: string; readonly by: string },
): Promise<TeachView> {
  const { withdrawn } = await requireEntry(deps, id);
  if (withdrawn !== null && withdrawn.by !== by)
    throw new TriageError('conflict', `${withdrawn.by} withdrew this entry, and only they can undo that.`);
  return await change(
    deps,
    id,
    'withdrawal of a library entry undone',
    (sql) => deps.stores.library.restore(id, by, sql),
    by,
  );
}

/**
 * Confirms that an entry stays in use although logs of passed builds contain its lines. A repeated call
 * changes nothing. Throws `not-found`, and `conflict` if the entry is withdrawn or no passed build contains
 * its lines.
 */
export async function confirmInUse(
  deps: TeachDeps,
  { id, by }: { readonly id: string; readonly by: string },
): Promise<TeachView> {
  const entry = await requireEntry(deps, id);
  if (entry.withdrawn !== null) {
    throw new TriageError(
      'conflict',
      `${entry.withdrawn.by} withdrew this entry at ${entry.withdrawn.at}; decide such a failure again.`,
    );
  }
  if (entry.flag === null)
    throw new TriageError(
      'conflict',
      'No green build contradicts this entry, so there is nothing to confirm.',
    );
  return await change(
    deps,
    id,
    'flagged library entry confirmed',
    (sql) => deps.stores.library.stay(id, by, sql),
    by,
  );
}

async function requireEntry({ stores }: TeachDeps, id: string): Promise<LibraryEntry> {
  const entry = await stores.library.find(id);
  if (entry === null) throw new TriageError('not-found', `There is no library entry ${id}.`);
  return entry;
}

type Change = (
  sql: Parameters<Parameters<DecideDeps['database']['transaction']>[0]>[0],
) => Promise<LibraryEntry | null>;

/**
 * Changes an entry in one transaction, together with the index changes for it and for the entry that is now
 * in use.
 */
async function change(
  deps: TeachDeps,
  id: string,
  reason: string,
  act: Change,
  by: string,
): Promise<TeachView> {
  const { library, work } = deps.stores;
  const { changes, changed, ...outcome } = await deps.database.transaction(async (sql) => {
    const known = await library.find(id, sql);
    if (known === null) throw new TriageError('not-found', `There is no library entry ${id}.`);
    const key = { fingerprint: known.fingerprint.value, repository: known.repository };
    await library.alone(key, sql);
    const before = await library.recall(key, sql);
    const done = await act(sql);
    const entry = done ?? (await library.find(id, sql)) ?? known;
    const answering = await library.recall(key, sql);
    const isBack = answering?.id === id && isInUse(entry);
    const changes =
      done === null
        ? []
        : isBack
          ? indexChanges(entry, before?.id ?? null)
          : indexChangesWithout(entry, answering);
    await work.add(changes, sql);
    return { entry, answering, changes, changed: done !== null };
  });
  if (changes.length > 0) {
    await deps.indexNow?.(
      'error_library',
      changes.map(({ key }) => key),
    );
  }
  if (changed) deps.logger.info({ entryId: id, by }, reason);
  return outcome;
}
