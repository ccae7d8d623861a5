import type { Insight, Plan } from '../ports/analyst.ts';
import { ruleOn } from './classify.ts';
import { causeConfidence } from './confidence.ts';
import { placesOf } from './places.ts';
import { retrievalScore } from './retrieved.ts';

/** From here on a cause counts as named. */
const ENOUGH = 0.65;
/** The graph stops at 0.9; before the first look-up nothing may be that sure. */
const BEFORE_LOOKUP_MOST = 0.89;

/** What is known, what is missing, and whether the cause can be named now. */
export function planNext(insight: Insight): Plan {
  const { subject, classification, evidence, outcomes, gaps } = insight;
  const ruling = ruleOn(subject);
  const lookedUp = outcomes.length > 0;
  const sure = causeConfidence(classification, evidence);
  const confidence = lookedUp ? sure : Math.min(sure, BEFORE_LOOKUP_MOST);
  const named = ruling.decisive !== null && !classification.abstained;
  const enough = lookedUp && named && confidence >= ENOUGH && gaps.length === 0;
  return { thought: thoughtOf(insight, enough), confidence, enough, retrieval: retrievalScore(evidence) };
}

function thoughtOf({ subject, classification, outcomes, gaps }: Insight, enough: boolean): string {
  const kind = classification.kind.replaceAll('_', ' ');
  const place = placesOf(subject)[0];
  const where = place === undefined ? '' : ` around ${place.path}${place.line === null ? '' : `:${place.line}`}`;
  const known = classification.abstained
    ? `The failing step reveals too little; ${classification.category} is only the best guess.`
    : `This looks like ${kind}${where} (${classification.because}).`;
  if (enough) return `${known} This is enough to name the cause.`;
  if (outcomes.length === 0) return `${known} First, check what is already known.`;
  if (gaps.length > 0) return `${known} Still missing: ${gaps[0]}`;
  return `${known} More evidence is needed.`;
}
