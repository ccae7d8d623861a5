import type { Decision } from '../../domain/review.ts';
import type { ConsoleDeps } from '../console-deps.ts';

/**
 * The time in milliseconds during which one key undoes a decision. Later, it can be undone on its own page.
 */
const UNDO_MS = 3_600_000;

/** Returns the reviewer's newest decision if it is valid and recent, and null otherwise. */
export async function findUndoable(
  { stores, clock }: Pick<ConsoleDeps, 'stores' | 'clock'>,
  reviewer: string,
): Promise<Decision | null> {
  const last = await stores.reviews.lastDecision(reviewer);
  return last === null || clock.now() - Date.parse(last.decidedAt) > UNDO_MS ? null : last;
}
