import { escapeSlack } from '../../channels/slack/message.ts';
import { TriageError } from '../../domain/errors.ts';
import type { DecisionInput } from '../../domain/review.ts';
import { createNoticeLinks } from '../../notifications/notice-words.ts';
import { type DecideDeps, decideReview } from './decide.ts';
import { type OpenReviewDeps, openReviewFor } from './queue.ts';

export interface DecideInChatDeps extends DecideDeps {
  readonly stores: DecideDeps['stores'] & OpenReviewDeps['stores'];
  /** The public URL of Faultline. If it is null, replies contain no links. */
  readonly publicUrl: string | null;
}

/** A button pressed in a chat. */
export interface ChatVerdict {
  readonly type: 'accept' | 'reject';
  readonly analysisId: string;
  /** The chat's own id of the user, which no user can choose. */
  readonly user: string;
  /** The display name of the user. Null if it is not a plain name. */
  readonly userName: string | null;
}

const REASON = 'marked wrong in Slack';

/**
 * Stores the decision of a button in a chat message if the user may decide. Opens the review of an answer
 * that was published without one. Returns the reply to the user, escaped, in Slack's markup. Never throws,
 * because the error would reach no one.
 */
export async function decideInChat(
  deps: DecideInChatDeps,
  verdict: ChatVerdict,
  reviewers: readonly string[],
): Promise<string> {
  const { user, type, analysisId } = verdict;
  if (!reviewers.includes(user)) return explainNotAllowed(reviewers);
  const reviewer = `slack:${verdict.userName === null ? user : `${verdict.userName}/${user}`}`;
  const input: DecisionInput = type === 'accept' ? { type } : { type, reason: REASON };
  try {
    const review = await openReviewFor(deps, { analysisId, by: reviewer });
    const { teaching } = await decideReview(deps, {
      reviewId: review.id,
      version: review.version,
      reviewer,
      input,
    });
    const link = createNoticeLinks(deps.publicUrl).review(review.id);
    if (type === 'accept') return `:white_check_mark: Saved: right. ${escapeSlack(teaching)}`;
    return (
      `:x: Saved: wrong. ${link === null ? 'Correct the answer in Faultline' : `<${link}?edit=1|Correct the answer>`} ` +
      'so that future answers improve.'
    );
  } catch (error) {
    deps.logger.warn({ analysisId, user, error }, 'a button press in Slack had no effect');
    if (error instanceof TriageError && (error.code === 'conflict' || error.code === 'not-found'))
      return escapeSlack(error.message);
    return 'That could not be saved, and nothing has changed. Try again in a moment.';
  }
}

function explainNotAllowed(reviewers: readonly string[]): string {
  const known = reviewers.filter((id) => /^[A-Z0-9]{1,40}$/.test(id)).slice(0, 5);
  if (known.length === 0)
    return 'Nobody may decide in Slack yet: FAULTLINE_SLACK_REVIEWERS is empty. Decide in Faultline.';
  return `You may not decide here. Ask ${known.map((id) => `<@${id}>`).join(' or ')}.`;
}
