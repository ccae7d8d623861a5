import type { Answer } from '../domain/analysis.ts';
import type { Insight } from '../ports/analyst.ts';
import { causeOf } from './causes.ts';
import { claimsOf } from './claims.ts';
import { ruleOn } from './classify.ts';
import { causeConfidence } from './confidence.ts';
import { fixOf } from './fixes.ts';
import { hypothesesOf } from './hypotheses.ts';
import { suspectsOf } from './suspects.ts';

/** Composes the answer out of the facts: every sentence about the log cites it, and nothing in quotes is paraphrased. */
export function composeAnswer({ subject, classification, evidence }: Insight): Answer {
  const ruling = ruleOn(subject);
  const { title, statement, rootCause } = causeOf(ruling, classification);
  const confidence = causeConfidence(classification, evidence);
  return {
    title,
    rootCause,
    fixRecommendation: fixOf(ruling, classification, evidence),
    confidence,
    claims: claimsOf(statement, ruling, classification, evidence),
    suspects: suspectsOf(subject, evidence, classification.category),
    hypotheses: hypothesesOf(ruling, classification, confidence),
  };
}
