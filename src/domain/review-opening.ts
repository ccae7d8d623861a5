import type { Analysis } from './analysis.ts';
import type { Build } from './build.ts';
import { newId } from './ids.ts';
import type { NewReview, ReviewOrigin } from './review.ts';
import { riskOf } from './review-risk.ts';

/** The review of an analysis, as it is opened. */
export function openingOf(
  build: Build,
  analysis: Analysis,
  { now, origin, why }: { readonly now: number; readonly origin: ReviewOrigin; readonly why: readonly string[] },
): NewReview {
  return {
    id: newId('rev', now),
    analysisId: analysis.id,
    buildId: build.id,
    repository: build.repository,
    title: analysis.answer.title,
    category: analysis.category,
    confidence: analysis.verdict.confidence,
    why: [...why],
    risk: riskOf(build, analysis),
    origin,
    openedAt: new Date(now).toISOString(),
  };
}
