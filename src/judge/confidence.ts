import type { Classification, ConfidenceFactor } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import { ranked } from './judgement.ts';
import { confirmedEntry } from './retrieved.ts';
import { lastingFailure } from './seen-elsewhere.ts';

/*
 * What moves the confidence of a cause, in logits, beside what the learned judgement states. These weights are judgement: no labelled rows
 * have history, decisions or contradictions to measure them.
 */
const CONFIRMED_BY_PERSON = 1.5;
const CONTRADICTED = -0.9;
/** What fails every time is not flaky. */
const EVERY_TIME = -2;
const CEILING = 0.97;

/** How sure the cause is: the classification's probability, moved by evidence for and against. 0..0.97. */
export function causeConfidence(classification: Classification, evidence: readonly Evidence[]): number {
  return weighCause(classification, evidence).confidence;
}

/** The same with what moved it, where so much of the evidence speaks against it; the first factor is where it began. */
export function weighCause(
  classification: Classification,
  evidence: readonly Evidence[],
  contradictions = 0,
): { readonly confidence: number; readonly factors: readonly ConfidenceFactor[] } {
  const { category, confidence } = classification;
  const start = Math.min(0.98, Math.max(0.04, confidence));
  const confirmed = confirmedEntry(evidence, category);
  const factors = [factor('classification', logit(start), `the log alone gives ${category} a probability of ${start.toFixed(2)}`)];
  const add = (name: string, value: number, because: string) => factors.push(factor(name, value, because));
  if (confirmed !== null)
    add('confirmed', CONFIRMED_BY_PERSON, `${confirmed.confirmedBy} confirmed a similar failure (${confirmed.evidence.id})`);
  const lasting = lastingFailure(evidence);
  if (lasting !== null && classification.kind === 'flaky_timing')
    add('every time', EVERY_TIME, `it failed this way ${lasting.times} times in a row`);
  if (contradictions > 0)
    add(
      'contradiction',
      CONTRADICTED * Math.min(2, contradictions),
      `${contradictions} ${contradictions === 1 ? 'piece of evidence contradicts' : 'pieces of evidence contradict'} this`,
    );
  const value = 1 / (1 + Math.exp(-factors.reduce((sum, one) => sum + one.value, 0)));
  return { confidence: Math.round(Math.min(CEILING, value) * 1000) / 1000, factors: factors.map(rounded) };
}

function factor(name: string, value: number, because: string): ConfidenceFactor {
  return { name, value, because };
}

function rounded(one: ConfidenceFactor): ConfidenceFactor {
  return { ...one, value: Math.round(one.value * 1000) / 1000 };
}

function logit(value: number): number {
  return Math.log(value / (1 - value));
}

/** Whether another category is nearly as probable. */
export function hasCloseRunnerUp(classification: Classification): boolean {
  const [first, second] = ranked(classification.probabilities);
  if (first === undefined || second === undefined) return false;
  return classification.probabilities[first] - classification.probabilities[second] < 0.25;
}
