import { type Analysis, isJudged } from './analysis.ts';
import type { Build } from './build.ts';
import { boundReason, isPublishedRoute, type PublishBound } from './publish-bound.ts';
import { findTouchedSuspects } from './review.ts';

/**
 * The grades of earlier answers of the same category to the same failure of the repository: by what happened
 * next, or by a person, whose word wins.
 */
export interface Precedent {
  readonly right: number;
  readonly wrong: number;
}

/**
 * The confidence of an answer that was right the last times, before a calibration says more. The bound, and
 * not this number, decides whether such answers are published.
 */
const CONFIDENCE = 0.9;

/**
 * Lets an answer that would wait for a person rest on its precedents: the same failure was answered so
 * before, and each time what happened next showed it right. It is of a route of its own, which is published
 * if the bound allows. No person has confirmed it, and it does not say so. Left as it is where a precedent
 * was wrong, or where the change of the build touches what is suspected.
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
