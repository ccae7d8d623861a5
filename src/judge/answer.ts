import type { Answer, Classification, Hypothesis } from '../domain/analysis.ts';
import type { Category } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { Insight } from '../ports/analyst.ts';
import { advise } from './advice.ts';
import { describeCause } from './causes.ts';
import { buildClaims, nameOther } from './claims.ts';
import { classifyByRules, findBestMatch, type Ruling } from './classify.ts';
import { findDescribedFact, tellsOfAnother } from './described-fact.ts';
import { findConfirmedEntry, findNamingDocument, isTeamDocument, listRetrieved } from './evidence-facts.ts';
import { rankCategories } from './judgement.ts';
import { KIND_WORDING } from './kinds.ts';
import { describeChange } from './removals.ts';
import { rankSuspects } from './suspects.ts';
import { estimateTransient } from './transient.ts';
import { createFinder } from './values/find.ts';
import { computeCauseConfidence, hasCloseRunnerUp } from './verify.ts';
import { toOneLine } from './wording.ts';

/**
 * Returns the introduction of the root cause, which names an earlier decision on this failure, or the team's
 * document that names the error. If no rule recognizes the failure, a document that covers most of
 * one of its lines is used as well. Returns an empty text if there is none.
 */
function describeSeenBefore(
  { decisive }: Ruling,
  { category, kind }: Classification,
  evidence: readonly Evidence[],
): string {
  const confirmed = findConfirmedEntry(evidence, category);
  if (confirmed !== null)
    return `Seen before${nameOther(confirmed)}: ${toOneLine(confirmed.rootCause ?? confirmed.evidence.title, 300)} (confirmed by ${confirmed.confirmedBy}). `;
  const isUnknown = decisive === null || kind === 'unknown';
  const covering = listRetrieved(evidence).find(
    ({ evidence: item, score }) => isTeamDocument(item) && score >= COVERED,
  );
  const document = findNamingDocument(evidence) ?? (isUnknown ? covering : undefined);
  if (document == null) return '';
  const quoted = toOneLine(document.cause ?? document.named ?? document.evidence.text, 240).replace(
    /[.\s]+$/,
    '',
  );
  return `Your document “${toOneLine(document.evidence.title, 120)}” covers this: ${quoted}. `;
}

/** The share of a failure's line that a document must cover. */
const COVERED = 0.75;

/** Composes the answer from the facts. Every sentence about the log cites it, and quotations are literal. */
export function composeAnswer({ subject, classification, evidence }: Insight): Answer {
  const ruling = classifyByRules(subject);
  // A category that was abstained from must not be the headline.
  const decided = classification.abstained
    ? null
    : (findBestMatch(ruling.matches, classification.category) ?? ruling.decisive);
  const fact = findDescribedFact(ruling.facts, decided);
  // A rule's sentences only describe the line that the rule matched.
  const match = decided !== null && tellsOfAnother(fact, decided) ? null : decided;
  const kind = match === null ? null : KIND_WORDING[match.rule.kind];
  const patterns = {
    reads: [...(match?.rule.reads ?? []), ...(kind?.reads ?? [])],
    readsOwn: kind?.readsOwn ?? [],
  };
  const find = fact === null ? null : createFinder(fact, patterns, ruling.facts);
  const { title, statement, rootCause, values } = describeCause(ruling, classification, match, find, fact);
  const advice = advise(classification, evidence, match, find);
  const seen = describeSeenBefore(ruling, classification, evidence);
  const confidence = computeCauseConfidence(subject, classification, evidence);
  const used = [...values, ...advice.values];
  const suspects = rankSuspects(subject, evidence, classification.category);
  const change = describeChange(subject, evidence, classification.category, suspects);
  const isRestored = change?.fix != null && findConfirmedEntry(evidence, classification.category) === null;
  return {
    title,
    rootCause: [`${seen}${rootCause}`, change?.cause ?? []].flat().join(' '),
    fixRecommendation: isRestored ? (change?.fix ?? '') : advice.text,
    act: isRestored ? 'code' : advice.act,
    transient: estimateTransient(subject, evidence),
    confidence,
    claims: buildClaims(statement, fact, used, ruling, classification, evidence, change?.claim ?? null),
    suspects,
    hypotheses: buildHypotheses(ruling, classification, confidence),
  };
}

/** The confidence below which hypotheses are listed. */
const UNSURE = 0.65;
/** The maximum number of hypotheses. */
const MAX_HYPOTHESES = 3;

/** The check that distinguishes each category from the others. */
const SETTLED_BY: Readonly<Record<Category, string>> = {
  CODE_ERROR: 'build the same commit on another machine and see whether it fails the same way',
  TEST_FAILURE: 'run the failing test alone several times, on this commit and the one before',
  INFRA_ERROR: 'rerun the same commit and check whether other builds failed at the same time',
  CONFIG_ERROR: 'compare the workflow, variables and tool versions with the last green build',
  DEPENDENCY_ERROR: 'compare the resolved versions with the last green build',
};

/** The hypothesis for each category. */
const SUPPOSED: Readonly<Record<Category, string>> = {
  CODE_ERROR: 'The change or the product code is broken',
  TEST_FAILURE: 'A test assertion is wrong or outdated',
  INFRA_ERROR: 'The machine, the network or an external service failed',
  CONFIG_ERROR: 'The build is misconfigured',
  DEPENDENCY_ERROR: 'A dependency of the build is missing or incompatible',
};

/**
 * Returns two or three hypotheses if the confidence is low or another category is almost as probable. Returns
 * none otherwise.
 */
function buildHypotheses(ruling: Ruling, classification: Classification, confidence: number): Hypothesis[] {
  if (confidence >= UNSURE && !hasCloseRunnerUp(classification)) return [];
  const order = rankCategories(classification.probabilities);
  const first = [
    classification.category,
    ...order.filter((category) => category !== classification.category),
  ];
  const likely = first
    .filter((category, rank) => rank < 2 || classification.probabilities[category] >= 0.12)
    .slice(0, MAX_HYPOTHESES);
  return likely.map((category) => {
    const match = findBestMatch(ruling.matches, category);
    if (match === null)
      return {
        text: `${SUPPOSED[category]}: no log line shows this, but nothing rules it out`,
        category,
        settledBy: SETTLED_BY[category],
      };
    const line = match.fact.text.replace(/\s+/g, ' ').trim().slice(0, 160);
    return {
      text: `${KIND_WORDING[match.rule.kind].spoken}: ${line}`,
      category,
      settledBy: SETTLED_BY[category],
    };
  });
}
