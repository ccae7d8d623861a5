import type { Answer, Classification, ConfidenceFactor, Grade } from '../domain/analysis.ts';
import type { Category } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import { findLastingFailure } from '../domain/lasting-failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { formatConfidence } from '../lib/text.ts';
import type { Assessment, Insight } from '../ports/analyst.ts';
import { classifyByRules, type Ruling } from './classify.ts';
import { findContraryDocument } from './contrary-document.ts';
import { findConfirmedEntry, findSeenElsewhere, listDecisions, listRetrieved } from './evidence-facts.ts';
import type { Fact } from './facts.ts';
import { rankCategories } from './judgement.ts';
import { quoteFact } from './wording.ts';

/** The minimum logits of a rival rule that contradicts the category. */
const STRONG_RIVAL = 3.4;
/**
 * The minimum share of a claim's words (of four or more characters) that its evidence must contain, if its
 * quotes are not all found there.
 */
const MIN_SUPPORTED_SHARE = 0.3;

/** Assesses an answer by its evidence. The confidence is at most 0.1 above the one that the answer states. */
export function assess(input: Insight & { answer: Answer }): Assessment {
  const { subject, classification, evidence, answer } = input;
  const ruling = classifyByRules(subject);
  const cited = new Set(answer.claims.flatMap((claim) => claim.evidence));
  const grades: Record<string, Grade> = {};
  for (const item of evidence) grades[item.id] = gradeEvidence(item, input, cited);
  // This claim names earlier builds with the same failure. The text of its evidence is about the failure and
  // not about those builds, so the words are not compared.
  const seen = findSeenElsewhere(subject, evidence)?.claim.text;
  const unsupportedClaims = answer.claims
    .filter(({ text }) => text !== seen)
    .filter((claim) => !isSupported(claim, evidence));
  const against = findContradictions(ruling, classification.category, evidence);
  const gaps = listGaps(input, ruling, unsupportedClaims.length);
  const weighed = weighCause(subject, classification, evidence, against.counted.length);
  const supportFactor = classification.abstained
    ? 1
    : computeSupportFactor(answer.claims.length, unsupportedClaims.length);
  const confidence = round(Math.min(weighed.confidence, answer.confidence + 0.1) * supportFactor);
  return {
    grades,
    unsupportedClaims: unsupportedClaims.map(({ text }) => text),
    gaps,
    confidence,
    against: [...new Set([...against.counted, ...against.rivals])],
    factors: weighed.factors,
  };
}

/** Computes the factor by which unsupported claims lower the confidence: 0.5 to 1. */
function computeSupportFactor(claims: number, unsupported: number): number {
  return claims === 0 ? 0.5 : 1 - (0.5 * unsupported) / claims;
}

function gradeEvidence(
  item: Evidence,
  { classification, answer }: Insight & { answer: Answer },
  cited: ReadonlySet<string>,
): Grade {
  const [retrieved] = listRetrieved([item]);
  if (retrieved !== undefined) {
    if (retrieved.named !== null) return 'relevant';
    if (retrieved.kind === classification.kind && retrieved.score >= 0.2) return 'relevant';
    if (retrieved.category === classification.category || cited.has(item.id)) return 'ambiguous';
    return 'irrelevant';
  }
  if (cited.has(item.id)) return 'relevant';
  const share = computeOverlap(`${answer.title} ${answer.rootCause}`, item.text);
  if (share >= 0.4) return 'relevant';
  return share >= 0.12 || item.tool === 'log' ? 'ambiguous' : 'irrelevant';
}

function isSupported(claim: Answer['claims'][number], evidence: readonly Evidence[]): boolean {
  const cited = evidence.filter((item) => claim.evidence.includes(item.id));
  if (cited.length === 0) return false;
  if (
    claim.quotes.length > 0 &&
    claim.quotes.every((quote) => cited.some((item) => item.text.includes(quote.text)))
  )
    return true;
  return (
    computeOverlap(claim.text, cited.map((item) => `${item.title}\n${item.text}`).join('\n')) >=
    MIN_SUPPORTED_SHARE
  );
}

/**
 * Returns the ids of evidence that contradicts the category. `rivals`: at most two strong matches of other
 * categories; they do not lower the confidence again, because the classification has weighed them.
 * `counted`: evidence that lowers it, which is a failed assertion against INFRA_ERROR, and people's decisions
 * for another category in similar failures.
 */
function findContradictions(ruling: Ruling, category: Category, evidence: readonly Evidence[]) {
  const { facts } = ruling;
  const strong = ruling.matches
    .filter((match) => match.rule.category !== category && match.strength >= STRONG_RIVAL)
    .map((match) => match.fact);
  const listEvidenceIds = (some: readonly Fact[]) =>
    some.flatMap((fact) => quoteFact(fact, evidence)?.evidenceId ?? []);
  const unlikeInfra =
    category === 'INFRA_ERROR' && facts.assertion !== null ? listEvidenceIds([facts.assertion]) : [];
  const decided = listDecisions(evidence).filter((item) => item.proposes && item.category !== category);
  return {
    rivals: [...new Set(listEvidenceIds(strong.slice(0, 2)))],
    counted: [...unlikeInfra, ...decided.map((item) => item.evidence.id)],
  };
}

function listGaps(
  { subject, classification, answer, evidence }: Insight & { answer: Answer },
  ruling: Ruling,
  unsupported: number,
): string[] {
  const gaps: string[] = [];
  if (evidence.length === 0) gaps.push('no evidence was found');
  if (ruling.decisive === null) gaps.push('no log line shows a known error');
  else if (!answer.claims.some((claim) => claim.quotes.length > 0))
    gaps.push('no log line is quoted for the cause');
  if (classification.category === 'TEST_FAILURE' && subject.failingTests.length === 0)
    gaps.push('no log line shows which test failed');
  if (classification.category === 'CODE_ERROR' && answer.suspects.length === 0)
    gaps.push('no project file is suspected');
  if (classification.abstained) gaps.push('no log line distinguishes between the categories');
  if (unsupported > 0)
    gaps.push(`${unsupported} ${unsupported === 1 ? 'claim is' : 'claims are'} not backed by any evidence`);
  return gaps;
}

function computeOverlap(left: string, right: string): number {
  const words = extractWords(left);
  if (words.size === 0) return 0;
  const other = extractWords(right);
  return [...words].filter((word) => other.has(word)).length / words.size;
}

function extractWords(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? []);
}

/**
 * Changes of the log odds of the classification. They are estimates: no labeled data contain history,
 * decisions, or contradictions from which they could be measured.
 */
const CONFIRMED_BY_PERSON = 1.5;
const CONTRADICTED = -0.9;
/** The change in logits for a failure of a flaky kind that occurs every time, and so is not flaky. */
const EVERY_TIME = -2;
/** The maximum confidence of a cause. */
const CEILING = 0.97;

/**
 * Computes the confidence of a cause before its answer is checked: the probability of the classification,
 * changed by a confirmed decision, a lasting failure, and a contrary document. Contradictions count only in
 * {@link assess}. Returns 0 to 0.97.
 */
export function computeCauseConfidence(
  subject: TriageSubject,
  classification: Classification,
  evidence: readonly Evidence[],
): number {
  return weighCause(subject, classification, evidence).confidence;
}

/**
 * Computes the confidence of a cause with its factors. At most two contradictions count. The first factor is
 * the log odds of the classification.
 */
function weighCause(
  subject: TriageSubject,
  classification: Classification,
  evidence: readonly Evidence[],
  contradictions = 0,
): { readonly confidence: number; readonly factors: readonly ConfidenceFactor[] } {
  const { category, confidence } = classification;
  const start = Math.min(0.98, Math.max(0.04, confidence));
  const confirmed = findConfirmedEntry(evidence, category);
  const factors: ConfidenceFactor[] = [];
  const add = (name: string, value: number, because: string) => factors.push({ name, value, because });
  add(
    'classification',
    Math.log(start / (1 - start)),
    `the classification gives ${category} a probability of ${formatConfidence(start)}`,
  );
  if (confirmed !== null)
    add(
      'confirmed',
      CONFIRMED_BY_PERSON,
      `${confirmed.confirmedBy} confirmed a similar failure (${confirmed.evidence.id})`,
    );
  const lasting = findLastingFailure(evidence);
  if (lasting !== null && classification.kind === 'flaky_timing')
    add('every time', EVERY_TIME, `it failed this way ${lasting.times} times in a row`);
  const contrary = findContraryDocument(subject, classification, evidence);
  if (contrary !== null) {
    const { id, title } = contrary.evidence;
    add(
      'document',
      CONTRADICTED,
      `the words of this failure match “${title}”, which describes ${contrary.category} (${id})`,
    );
  }
  if (contradictions > 0)
    add(
      'contradiction',
      CONTRADICTED * Math.min(2, contradictions),
      `${contradictions} ${contradictions === 1 ? 'piece of evidence contradicts' : 'pieces of evidence contradict'} this`,
    );
  const value = 1 / (1 + Math.exp(-factors.reduce((sum, factor) => sum + factor.value, 0)));
  return {
    confidence: round(Math.min(CEILING, value)),
    factors: factors.map((factor) => ({ ...factor, value: round(factor.value) })),
  };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** Checks whether the two most probable categories are less than 0.25 apart. */
export function hasCloseRunnerUp(classification: Classification): boolean {
  const [first, second] = rankCategories(classification.probabilities);
  if (first === undefined || second === undefined) return false;
  return classification.probabilities[first] - classification.probabilities[second] < 0.25;
}
