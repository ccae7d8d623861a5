import { type Act, type Classification, isNotDevelopersFault } from '../domain/analysis.ts';
import { getKindRow } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import { listEvidenceFrom } from '../domain/finding-data.ts';
import { findLastingFailure } from '../domain/lasting-failure.ts';
import {
  findConfirmedEntry,
  findFittingDocument,
  findNamingDocument,
  isTeamDocument,
} from './evidence-facts.ts';
import { KIND_WORDING } from './kinds.ts';
import { OFFER_FIXES } from './offers.ts';
import type { Match } from './rule.ts';
import { type Filled, type FindValue, fill, type Nearness, type Value, type Wording } from './sentence.ts';
import { cleanWords } from './values/clean.ts';
import { joinWords } from './wording.ts';

/** The advice, or the statement that there is none. */
export interface Advice {
  readonly text: string;
  readonly act: Act | null;
  /** The probability that following it helps, 0..1; 0 if nothing is advised. */
  readonly confidence: number;
  /** The values in its sentence. */
  readonly values: readonly Value[];
}

const NO_FIX = 'No fix found.';
/** The minimum confidence for advice. A misleading hint costs three times as much as silence. */
const MIN_CONFIDENCE = 0.45;
/** The trust in a sentence by its origin, before the trust in its values is applied. */
const BY_ORIGIN = { rule: 0.9, tool: 0.8, kind: 0.75, thrown: 0.6 } as const;
/** The trust in a sentence by the distance of its farthest value. */
const BY_NEARNESS: Readonly<Record<Nearness, number>> = { line: 1, paragraph: 0.95, step: 0.85 };
/** The trust in a sentence without a value from the log. */
const WITHOUT_VALUES = 0.8;

/**
 * Chooses one piece of advice, from the first source that has any: a fix that a person confirmed, the team's
 * document that names the error, the rule's sentence, the failed tool's own hint, the sentence for the kind
 * of failure, an offer of the tool, or the place of the error with the tool's message. Says that no fix was
 * found if no sentence can be filled from the failure's own lines.
 */
export function advise(
  classification: Classification,
  evidence: readonly Evidence[],
  match: Match | null,
  find: FindValue | null,
): Advice {
  const advice = chooseAdvice(classification, evidence, match, find);
  const lasting = findLastingFailure(evidence);
  if (lasting === null || !(isNotDevelopersFault(classification) || advice.act === 'rerun')) return advice;
  const again = `It has failed this way ${lasting.times} times in a row since #${lasting.since}, so rerunning it will not help.`;
  if (advice.act !== 'rerun') return { ...advice, text: `${again} ${advice.text}` };
  const ask = 'Ask the owner of the service or machine that fails.';
  return { ...advice, text: `${again} ${ask}`, act: 'ask' };
}

function chooseAdvice(
  classification: Classification,
  evidence: readonly Evidence[],
  match: Match | null,
  find: FindValue | null,
): Advice {
  const confirmed = findConfirmedEntry(evidence, classification.category);
  if (confirmed?.fix != null) {
    const text = `${confirmed.fix} (confirmed by ${confirmed.confirmedBy} for an earlier failure of this kind)`;
    return { text, act: null, confidence: 0.9, values: [] };
  }
  const naming = findNamingDocument(evidence);
  if (naming?.fix != null) {
    const title = cleanWords(naming.evidence.title, 120).replace(/ \(beginning\)$/, '');
    const text = `${naming.fix.replace(/\.$/, '')} (from your document “${title}”).`;
    return { text, act: null, confidence: 0.7, values: [] };
  }
  const fix = find === null ? null : fromLog(match, classification, find);
  if (fix !== null && fix.confidence * (0.5 + 0.5 * classification.confidence) >= MIN_CONFIDENCE) return fix;
  const document = findFittingDocument(evidence, classification.category, classification.kind);
  // A general document says what usually helps, but a team's own document is about its own failures.
  if (document?.fix != null && isTeamDocument(document.evidence))
    return { text: document.fix, act: null, confidence: 0.5, values: [] };
  const text = `${NO_FIX}${pointToDocumentation(evidence)}`;
  return { text, act: null, confidence: 0, values: [] };
}

/**
 * Refers to the documentation that was found without reading it, because no web search was available. Returns
 * an empty text if none was found.
 */
function pointToDocumentation(evidence: readonly Evidence[]): string {
  const places = listEvidenceFrom(evidence, ['search_web']).flatMap(({ item: { source, url }, data }) =>
    source !== 'documentation' || url === undefined ? [] : `${data.named} (${url})`,
  );
  if (places.length === 0) return '';
  return ` The web could not be searched. Related documentation, which was not read: ${joinWords(places)}.`;
}

/** Chooses advice from the log. Advice about the place of a finding also names other files with findings. */
function fromLog(match: Match | null, classification: Classification, find: FindValue): Advice | null {
  const advice = chooseFromLog(match, classification, find);
  const [place, others] = [find('place'), find('otherPlaces')];
  if (advice === null || place === null || others === null || !advice.text.includes(place.text))
    return advice;
  const text = `${advice.text} Continue with ${others.text}.`;
  return { ...advice, text, values: advice.values.concat(others) };
}

function chooseFromLog(
  match: Match | null,
  { category, kind }: Classification,
  find: FindValue,
): Advice | null {
  // If an earlier error kept the file from being written, advice about the missing file is wrong.
  if (kind === 'missing_file' && find('earlierError') !== null) return null;
  const ruleFix = findFirstFilled(match?.rule.fix ?? [], find, BY_ORIGIN.rule);
  if (ruleFix !== null) return ruleFix;
  // An offer on the deciding line is more exact than a hint below it: it names a version or a setting.
  const offered = findFirstFilled(OFFER_FIXES, find, BY_ORIGIN.tool);
  const offer =
    offered === null ? null : { ...offered, act: offered.act === 'ask' ? offered.act : chooseAct(category) };
  const isNear = offer?.values.every(({ near }) => near === 'line') === true;
  // A sentence with both versions says more than a hint to upgrade.
  const namesVersions = find('hadVersion') !== null && find('neededVersion') !== null;
  if (offer !== null && (isNear || namesVersions)) return offer;
  const hint = findFirstFilled(HINTS, find, BY_ORIGIN.tool);
  if (hint !== null) return { ...hint, act: chooseAct(category) };
  // Sentences of a kind only apply if the answer's category is that of the kind.
  const isOfKind = match !== null && getKindRow(kind).category === category;
  const ofKind = isOfKind ? findFirstFilled(KIND_WORDING[kind].fix ?? [], find, BY_ORIGIN.kind) : null;
  if (ofKind !== null || offer !== null) return ofKind ?? offer;
  if (category === 'INFRA_ERROR') return null;
  const placed = findFirstFilled(category === 'TEST_FAILURE' ? TEST_PLACES : PLACES, find, BY_ORIGIN.kind);
  if (placed !== null) return { ...placed, act: chooseAct(category) };
  return getKindRow(kind).category === 'CODE_ERROR' ? findFirstFilled(THROWN, find, BY_ORIGIN.thrown) : null;
}

/** Advice that names a place, with the tool's own message about it. */
const PLACES: NonNullable<Wording['fix']> = [
  ['code', '{errors?}Fix the reported errors, starting at {place}: “{complaint}”.'],
  ['code', 'Fix the error at {place}: “{complaint}”.'],
];
const TEST_PLACES: NonNullable<Wording['fix']> = [
  ['code', 'Start at {place}: “{complaint}”.'],
  ['code', 'Start at {place}, where {test} fails.'],
  ['code', 'Start at {thrownAt}, where the assertion fails.'],
];

/** Advice that names the place where the project's own code throws an error, if nothing else is known. */
const THROWN: NonNullable<Wording['fix']> = [['code', 'Start at {thrownAt}, where the error is thrown.']];

/** Advice in the failed tool's own words, with the files that it lists. */
const HINTS: NonNullable<Wording['fix']> = [
  ['code', 'The error message lists {listed} and suggests: “{hint}”.'],
  ['code', '{tool} suggests: “{hint}”.'],
  ['code', 'The error message suggests: “{hint}”.'],
];

function findFirstFilled(fixes: NonNullable<Wording['fix']>, find: FindValue, trust: number): Advice | null {
  for (const [act, sentence] of fixes) {
    const filled = fill(sentence, find);
    if (filled !== null)
      return { text: filled.text, act, confidence: trust * trustIn(filled), values: filled.values };
  }
  return null;
}

function trustIn({ values }: Filled): number {
  if (values.length === 0) return WITHOUT_VALUES;
  return values.reduce((least, { near }) => Math.min(least, BY_NEARNESS[near]), 1);
}

/** Chooses the act that a tool's hint usually asks for, by the category. */
function chooseAct(category: Classification['category']): Act {
  if (category === 'DEPENDENCY_ERROR') return 'dependency';
  return category === 'CODE_ERROR' || category === 'TEST_FAILURE' ? 'code' : 'configuration';
}
