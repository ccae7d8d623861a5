import { TriageError } from '../../domain/errors.ts';
import type { Decision, Principal, Review } from '../../domain/review.ts';

/** The reason why `reviewer` may not act on the review now, or null. A claim that ran out reads as waiting: the store sees to it. */
export function obstacle(review: Review, reviewer: string): TriageError | null {
  if (review.decision !== null || review.state === 'decided') return decidedAlready(review);
  if (review.state === 'claimed' && review.claimedBy !== reviewer) return heldByAnother(review);
  return null;
}

/** For a decision made on a state that is no longer the current one. */
export function outdated(review: Review, version: number): TriageError {
  return conflict(
    `This review has changed since version ${version}; it is now at version ${review.version}. Reload it, then decide.`,
    review,
  );
}

/** For a release by somebody who does not hold the item. */
export function notHeld(review: Review): TriageError {
  return conflict('You do not hold this review, so there is nothing to release.', review);
}

/** For a write that lost a race although the state looks free again: reading it once more settles it. */
export function raced(review: Review): TriageError {
  return conflict('Someone else changed this review at the same time. Reload it and try again.', review);
}

/** For an id that is nobody's. */
export function unknownReview(id: string): TriageError {
  return new TriageError('not-found', `There is no review ${id}.`);
}

/** For taking back what is not decided. */
export function notDecided(review: Review): TriageError {
  return conflict('This review is not decided, so there is nothing to undo.', review);
}

/** Why somebody else may not take a decision back. */
export function decidedBy({ reviewer, decidedAt }: Decision): string {
  return `${reviewer} decided this at ${decidedAt}; only ${reviewer} or an admin can undo it.`;
}

function decidedAlready(review: Review): TriageError {
  const { decision } = review;
  if (decision === null) return conflict('This review is already decided.', review);
  const verdict = decision.type === 'correct' ? `corrected to ${decision.category}` : `${decision.type}ed`;
  return conflict(`${decision.reviewer} decided this at ${decision.decidedAt}: ${verdict}.`, review);
}

/** For an item that somebody else holds. */
export function heldByAnother(review: Review): TriageError {
  return conflict(`${review.claimedBy} holds this review until ${review.claimExpiresAt}.`, review, {
    holder: review.claimedBy,
    until: review.claimExpiresAt,
  });
}

function conflict(message: string, review: Review, details: Record<string, unknown> = {}): TriageError {
  return new TriageError('conflict', message, { details: { ...details, review } });
}

/** Who asks, as every route that declares a role knows by the time it runs. */
interface Asking {
  readonly principal: Principal | null;
}

/** Who decides: the name of the token that asks. */
export function reviewerOf(request: Asking): string {
  if (request.principal === null) throw new TriageError('unauthenticated', 'Reviewing needs a token with the role review.');
  return request.principal.name;
}

/** Whether the one who asks may also change what others decided. */
export function isAdmin({ principal }: Asking): boolean {
  return principal?.roles.includes('admin') === true;
}
