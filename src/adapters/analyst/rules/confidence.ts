import type { Classification } from '../../../domain/analysis.ts';
import type { Evidence } from '../../../domain/evidence.ts';
import type { TriageSubject } from '../../../domain/subject.ts';
import { bestOf, type Ruling } from './classify.ts';
import { placesOf } from './places.ts';
import { confirmedEntry, retrievedFrom } from './retrieved.ts';
import { ranked } from './score.ts';

/** What moves the confidence of a cause, in logits. The weights were set by measuring how often a stated confidence is right. */
const LOCATED = 0.2;
const STRUCTURED = 0.2;
const SAME_KIND_RETRIEVED = 0.35;
const CONFIRMED_BY_PERSON = 1.5;
const OTHER_CATEGORY_RETRIEVED = -0.35;
const CONTRADICTED = -0.9;
const CLOSE_RUNNER_UP = -0.3;
const ABSTAINED_MOST = 0.49;

/** How sure the cause is: the classification's probability, moved by evidence for and against. 0..0.97. */
export function causeConfidence(
  subject: TriageSubject,
  classification: Classification,
  evidence: readonly Evidence[],
  ruling: Ruling,
  contradictions = 0,
): number {
  const { category, kind, confidence, abstained } = classification;
  const start = Math.min(0.96, Math.max(0.04, confidence));
  const decisive = bestOf(ruling.matches, category);
  const confirmed = confirmedEntry(evidence, category);
  let logit = Math.log(start / (1 - start));
  if (placesOf(subject).some((place) => place.line !== null)) logit += LOCATED;
  if (decisive !== null && decisive.fact.origin !== 'line') logit += STRUCTURED;
  const best = retrievedFrom(evidence)[0];
  if (best !== undefined && best.score >= 0.5 && best.kind === kind) logit += SAME_KIND_RETRIEVED;
  if (best !== undefined && best.score >= 0.6 && best.category !== null && best.category !== category) logit += OTHER_CATEGORY_RETRIEVED;
  if (confirmed !== null) logit += CONFIRMED_BY_PERSON;
  if (hasCloseRunnerUp(classification)) logit += CLOSE_RUNNER_UP;
  logit += CONTRADICTED * Math.min(2, contradictions);
  const value = 1 / (1 + Math.exp(-logit));
  const most = abstained && confirmed === null ? ABSTAINED_MOST : 0.97;
  return Math.round(Math.min(most, value) * 1000) / 1000;
}

/** Whether another category is nearly as probable. */
export function hasCloseRunnerUp(classification: Classification): boolean {
  const [first, second] = ranked(classification.probabilities);
  if (first === undefined || second === undefined) return false;
  return classification.probabilities[first] - classification.probabilities[second] < 0.25;
}
