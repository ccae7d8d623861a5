import { TriageError } from '../../src/domain/errors.ts';
import type { Insight } from '../../src/ports/analyst.ts';
import type { TriageStateValue } from './state.ts';

/** What is known so far, as every judgement after `classify` sees it. */
export function insightOf(state: TriageStateValue): Insight {
  if (state.classification === null) throw new TriageError('internal', 'The triage graph reached a judgement before classify');
  return {
    subject: state.subject,
    classification: state.classification,
    evidence: state.evidence,
    outcomes: state.outcomes,
    round: Math.max(1, state.rounds),
    gaps: state.gaps,
    ...(state.conclusions.length === 0
      ? {}
      : { conclusions: state.conclusions.map(({ investigator, text }) => `${investigator}: ${text}`) }),
  };
}
