import { type Analysis, isJudged } from './analysis.ts';
import type { Build } from './build.ts';
import { boundReason, isPublishedRoute, type PublishBound } from './publish-bound.ts';
import { findTouchedSuspects } from './review.ts';

/**
 * The grades of earlier answers of the same category to the same failure of the repository, by their outcome
 * or by a person. A person's grade wins.
 */
export interface Precedent {
  readonly right: number;
  readonly wrong: number;
}

/**
 * The confidence of an answer that was right the last times, before calibration. Whether such answers are
 * published depends on the bound, not on this number.
 */
const CONFIDENCE = 0.9;

/**
 * Bases an answer that would wait for a person on its precedents: earlier answers of the same category to the
 * same failure, each of which was proved right. The answer gets the route `precedent`, which is published if
 * the bound allows. It does not claim that a person confirmed it. The analysis is returned unchanged if a
 * precedent was wrong, or if the build's change touches a suspect.
 */
export function withPrecedent(
  build: Build,
  analysis: Analysis,
  { right, wrong }: Precedent,
  bound: PublishBound | null,
): Analysis {
  const { verdict, recalled, ruled } = analysis;
  const isOpen = verdict.action === 'human_review' && recalled === null && ruled === undefined;
  if (!isOpen || !isJudged(analysis) || right === 0 || wrong > 0) return analysis;
  if (findTouchedSuspects(build, analysis).length > 0) return analysis;
  const times = right === 1 ? 'once' : `${right} times`;
  const reason = `the same failure was answered so ${times} before, and what happened next showed it right`;
  const isAllowed = bound === null || isPublishedRoute(bound, 'precedent');
  const reasons = isAllowed ? [reason] : [...verdict.reasons, boundReason(bound, 'precedent')];
  return {
    ...analysis,
    verdict: {
      ...verdict,
      route: 'precedent',
      confidence: Math.max(verdict.confidence, CONFIDENCE),
      action: isAllowed ? 'auto_notify' : 'human_review',
      reasons,
    },
  };
}
