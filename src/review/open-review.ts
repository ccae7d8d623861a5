import { TriageError } from '../domain/errors.ts';
import { openingOf, type Review } from '../domain/review.ts';
import type { Clock } from '../lib/time.ts';
import type { ShownStores } from '../ports/stores.ts';

export interface OpenReviewDeps {
  readonly stores: Pick<ShownStores, 'reviews' | 'analyses' | 'builds'>;
  readonly clock: Clock;
}

/**
 * The review of an analysis, opened where there is none yet: a person may say of any published answer whether it is right. Throws
 * `not-found`.
 */
export async function openReviewFor(
  deps: OpenReviewDeps,
  { analysisId, by }: { readonly analysisId: string; readonly by: string },
): Promise<Review> {
  const { reviews, analyses, builds } = deps.stores;
  const known = await reviews.findByAnalysis(analysisId);
  if (known !== null) return known;
  const analysis = await analyses.find(analysisId);
  const build = analysis === null ? null : await builds.find(analysis.buildId);
  if (analysis === null || build === null) throw new TriageError('not-found', `There is no analysis ${analysisId}.`);
  const why = [`published automatically; ${by} requested a review`];
  return await reviews.open(openingOf(build, analysis, { now: deps.clock.now(), origin: 'asked', why }));
}
