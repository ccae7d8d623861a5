import type { Category } from '../domain/category.ts';
import { newId } from '../domain/ids.ts';
import type { Decision, DecisionInput, Review } from '../domain/review.ts';
import type { Masker } from '../log/mask/mask.ts';

export interface DecisionFacts {
  readonly input: DecisionInput;
  readonly reviewer: string;
  readonly review: Review;
  /** What the reviewer took it for before the verdict was shown. */
  readonly guess: Category | null;
  readonly batchId: string | null;
  readonly now: number;
}

/** A page that was open longer says nothing about how long somebody thought. */
const MAX_SECONDS = 24 * 3600;

/** What the reviewer typed is masked before it is stored; PostgreSQL takes neither NUL nor half a surrogate pair. */
export async function newDecision(facts: DecisionFacts, masker: Pick<Masker, 'mask'>): Promise<Decision> {
  const { input, reviewer, review, guess, batchId, now } = facts;
  const mask = async (text: string) => (await masker.mask(text.toWellFormed().replaceAll('\0', '\ufffd'))).text;
  return {
    id: newId('dec', now),
    reviewId: review.id,
    analysisId: review.analysisId,
    reviewer,
    decidedAt: new Date(now).toISOString(),
    type: input.type,
    ...(input.category === undefined ? {} : { category: input.category }),
    ...(input.kind === undefined ? {} : { kind: input.kind }),
    ...(input.rootCause === undefined ? {} : { rootCause: await mask(input.rootCause) }),
    ...(input.fixRecommendation === undefined ? {} : { fixRecommendation: await mask(input.fixRecommendation) }),
    ...(input.reason === undefined ? {} : { reason: await mask(input.reason) }),
    ...(input.reasonCode === undefined ? {} : { reasonCode: input.reasonCode }),
    ...(input.shownBy === undefined ? {} : { shownBy: input.shownBy }),
    ...(guess === null ? {} : { blind: guess }),
    ...(batchId === null ? {} : { batchId }),
    ...openTime(facts),
  };
}

/** As the page says, else since the reviewer holds the item. */
function openTime({ input, review, reviewer, now }: DecisionFacts): Pick<Decision, 'openedAt' | 'secondsOpen'> {
  const openedAt = input.openedAt ?? (review.claimedBy === reviewer ? review.claimedAt : null);
  if (openedAt === null || openedAt === undefined) return {};
  const seconds = (now - Date.parse(openedAt)) / 1000;
  return seconds < 0 || seconds > MAX_SECONDS ? {} : { openedAt, secondsOpen: Math.round(seconds * 10) / 10 };
}
