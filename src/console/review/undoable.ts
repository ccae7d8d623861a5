import type { Decision } from '../../domain/review.ts';
import type { ConsoleDeps } from '../console-deps.ts';

/** So long after a decision one key takes it back; later, its own page does. */
const UNDO_MS = 3_600_000;

/** The reviewer's newest decision that stands, while it is fresh. */
export async function undoable({ stores, clock }: Pick<ConsoleDeps, 'stores' | 'clock'>, reviewer: string): Promise<Decision | null> {
  const last = await stores.reviews.lastDecision(reviewer);
  return last === null || clock.now() - Date.parse(last.decidedAt) > UNDO_MS ? null : last;
}
