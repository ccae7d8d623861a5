import type { Answer, Classification } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { Insight } from '../ports/analyst.ts';
import { causeOf } from './causes.ts';
import { claimsOf } from './claims.ts';
import { type Ruling, ruleOn } from './classify.ts';
import { causeConfidence } from './confidence.ts';
import { fixOf } from './fixes.ts';
import { hypothesesOf } from './hypotheses.ts';
import { confirmedEntry, retrievedFrom } from './retrieved.ts';
import { suspectsOf } from './suspects.ts';
import { oneLine } from './wording.ts';

/** What people know of such a failure, which comes first where no rule knows it: a decision of theirs, else their own document. */
function seenBefore({ decisive }: Ruling, { category, kind }: Classification, evidence: readonly Evidence[]): string {
  const confirmed = confirmedEntry(evidence, category);
  if (confirmed !== null)
    return `Seen before: ${oneLine(confirmed.rootCause ?? confirmed.evidence.title, 300)} (confirmed by ${confirmed.confirmedBy}). `;
  const own = retrievedFrom(evidence).find(({ evidence: item, score }) => item.source.startsWith('team-knowledge/') && score >= TOLD);
  if (own === undefined || (decisive !== null && kind !== 'unknown')) return '';
  return `Your document “${oneLine(own.evidence.title, 120)}” covers this: ${oneLine(own.evidence.text, 240)}. `;
}

/** A document says most of a line of the failure. */
const TOLD = 0.75;

/** Composes the answer out of the facts: every sentence about the log cites it, and nothing in quotes is paraphrased. */
export function composeAnswer({ subject, classification, evidence }: Insight): Answer {
  const ruling = ruleOn(subject);
  const { title, statement, rootCause } = causeOf(ruling, classification);
  const seen = seenBefore(ruling, classification, evidence);
  const confidence = causeConfidence(classification, evidence);
  return {
    title,
    rootCause: `${seen}${rootCause}`,
    fixRecommendation: fixOf(ruling, classification, evidence),
    confidence,
    claims: claimsOf(statement, ruling, classification, evidence),
    suspects: suspectsOf(subject, evidence, classification.category),
    hypotheses: hypothesesOf(ruling, classification, confidence),
  };
}
