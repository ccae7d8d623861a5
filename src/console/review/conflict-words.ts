import type { Review } from '../../domain/review.ts';
import { clockTime } from './queue-page.ts';

/** Why a decision came too late, and what becomes of what was typed. `now` in milliseconds since 1970. */
export function conflictWords({ decision, state, claimedBy, claimedAt }: Review, reviewer: string, now: number): string {
  if (decision !== null) {
    const did = { accept: 'accepted', correct: `corrected to ${decision.category}`, reject: 'rejected' }[decision.type];
    return `${decision.reviewer} decided this ${shortAge(now - Date.parse(decision.decidedAt))} ago: ${did}. Your text is kept below.`;
  }
  if (state === 'claimed' && claimedBy !== reviewer)
    return `${claimedBy} has been reviewing this since ${clockTime(claimedAt)}. Your text is kept below.`;
  return 'This item changed since you opened it. Your text is still here: check the item, then save again.';
}

function shortAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
