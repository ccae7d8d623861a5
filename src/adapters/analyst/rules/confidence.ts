import type { Classification, ConfidenceFactor } from '../../../domain/analysis.ts';
import type { Evidence } from '../../../domain/evidence.ts';
import type { Ruling } from './classify.ts';
import { confirmedEntry, retrievedFrom } from './retrieved.ts';
import { ranked } from './score.ts';

/*
 * What moves the confidence of a cause, in logits. How often a stated confidence is right was measured on 292 labelled logs and excerpts
 * (docs/rules-analyst.md): FOREIGN_API and ABSTAINED were set by it; that a place is known, or that an extractor rather than
 * a bare line told the fact, made no difference there and counts for nothing. The other weights are judgement: too few of those rows
 * have history, decisions or contradictions to measure them.
 */
/** A compiler that misses a name cannot tell whether our code or a library's interface changed: 42 of 47 were ours. */
const FOREIGN_API = -0.3;
const SAME_KIND_RETRIEVED = 0.35;
const CONFIRMED_BY_PERSON = 1.5;
const OTHER_CATEGORY_RETRIEVED = -0.35;
const CONTRADICTED = -0.9;
const CLOSE_RUNNER_UP = -0.3;
/** A category guessed without evidence was right in 3 of 13. */
const ABSTAINED = 0.24;
const CEILING = 0.97;

const MISSES_A_NAME =
  /cannot find symbol|does not exist|not found|undefined|undeclared|has no |no member|not a member|cannot be resolved|unresolved|incompatible types|cannot be (?:applied|converted)|is not assignable|no overload/i;

/** How sure the cause is: the classification's probability, moved by evidence for and against. 0..0.97. */
export function causeConfidence(classification: Classification, evidence: readonly Evidence[], ruling: Ruling, contradictions = 0): number {
  return weighCause(classification, evidence, ruling, contradictions).confidence;
}

/** The same with what moved it; the first factor is where it began. */
export function weighCause(
  classification: Classification,
  evidence: readonly Evidence[],
  ruling: Ruling,
  contradictions = 0,
): { readonly confidence: number; readonly factors: readonly ConfidenceFactor[] } {
  const { category, kind, confidence, abstained } = classification;
  const start = Math.min(0.98, Math.max(0.04, confidence));
  const confirmed = confirmedEntry(evidence, category);
  if (abstained && confirmed === null) {
    return { confidence: ABSTAINED, factors: [factor('classification', logit(ABSTAINED), 'the category is a guess without evidence')] };
  }
  const factors = [factor('classification', logit(start), `${category} is ${start.toFixed(2)} probable by the log alone`)];
  const add = (name: string, value: number, because: string) => factors.push(factor(name, value, because));
  if (missesAName(ruling, kind)) add('cause', FOREIGN_API, 'a name that is missing may be ours or a library’s');
  const best = retrievedFrom(evidence)[0];
  if (best !== undefined && best.score >= 0.5 && best.kind === kind) {
    add('retrieval', SAME_KIND_RETRIEVED, `${best.evidence.id}, the best hit, is about the same kind`);
  }
  if (best !== undefined && best.score >= 0.6 && best.category !== null && best.category !== category) {
    add('retrieval', OTHER_CATEGORY_RETRIEVED, `${best.evidence.id}, the best hit, is about ${best.category}`);
  }
  if (confirmed !== null) add('confirmed', CONFIRMED_BY_PERSON, `${confirmed.confirmedBy} confirmed the like in ${confirmed.evidence.id}`);
  if (hasCloseRunnerUp(classification)) add('runner_up', CLOSE_RUNNER_UP, 'another category is nearly as probable');
  if (contradictions > 0)
    add('contradiction', CONTRADICTED * Math.min(2, contradictions), `${contradictions} of the evidence speak against it`);
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

function missesAName({ facts }: Ruling, kind: Classification['kind']): boolean {
  if (kind !== 'compile_error' && kind !== 'type_error') return false;
  return facts.compileErrors.some((entry) => MISSES_A_NAME.test(entry.message)) || facts.compileErrors.length === 0;
}

/** Whether another category is nearly as probable. */
export function hasCloseRunnerUp(classification: Classification): boolean {
  const [first, second] = ranked(classification.probabilities);
  if (first === undefined || second === undefined) return false;
  return classification.probabilities[first] - classification.probabilities[second] < 0.25;
}
