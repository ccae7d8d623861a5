import type { Analysis } from '../domain/analysis.ts';
import { BOUND_CONFIDENCE } from '../domain/publish-bound.ts';
import { computeUpperShare } from '../lib/binomial-bound.ts';

/**
 * Describes the accuracy of similar answers: "answers like this one are right at least 84 % of the time". The
 * number is the lower bound, at 90 % confidence, of the accuracy of answers with the same confidence and the
 * same route, measured on sources from which nothing was learned. Returns nothing if a person or a model
 * answered, or if too few were measured.
 */
export function describeRecord({ classification: { record }, recalled }: Analysis): string[] {
  if (record === undefined || recalled !== null) return [];
  const least = 1 - computeUpperShare(record.of - record.right, record.of, BOUND_CONFIDENCE);
  return [
    `answers like this one are right at least ${Math.floor(100 * least)} % of the time ` +
      `(${record.right} of ${record.of} in projects it had not seen)`,
  ];
}
