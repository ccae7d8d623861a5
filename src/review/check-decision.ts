import type { Analysis } from '../domain/analysis.ts';
import { TriageError } from '../domain/errors.ts';
import type { DecisionInput } from '../domain/review.ts';

/**
 * Refuses (`invalid-input`) what cannot be stored as a decision: a rejection without a reason, a correction that names no
 * category or changes nothing, an acceptance that brings other words.
 */
export function checkDecision(input: DecisionInput, analysis: Analysis): void {
  if (input.type === 'reject' && blank(input.reason)) throw invalid('A rejection needs a reason: say what is wrong with the answer.');
  if (input.type === 'correct') checkCorrection(input, analysis);
  else refuseOtherWords(input);
}

function checkCorrection(input: DecisionInput, analysis: Analysis): void {
  if (input.category === undefined) throw invalid('A correction needs the right category, even where the category was right.');
  for (const field of ['rootCause', 'fixRecommendation'] as const) {
    if (input[field] !== undefined && blank(input[field]))
      throw invalid(`The corrected ${field} is blank; leave it out to keep the machine's.`);
  }
  const { category, kind, answer } = analysis;
  const changes =
    input.category !== category ||
    (input.kind ?? kind) !== kind ||
    (input.rootCause ?? answer.rootCause).trim() !== answer.rootCause.trim() ||
    (input.fixRecommendation ?? answer.fixRecommendation).trim() !== answer.fixRecommendation.trim();
  if (!changes) {
    throw invalid('This correction changes nothing: give another category, kind, root cause or fix, or accept the answer as it is.');
  }
}

function refuseOtherWords(input: DecisionInput): void {
  const given = (['category', 'kind', 'rootCause', 'fixRecommendation'] as const).filter((field) => input[field] !== undefined);
  if (given.length > 0) throw invalid(`To ${input.type} takes no ${given.join(', ')}; use "correct" to give your own words.`);
}

function blank(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
}

function invalid(message: string): TriageError {
  return new TriageError('invalid-input', message);
}
