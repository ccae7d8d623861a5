import type { Classification } from '../../../domain/analysis.ts';
import type { Evidence } from '../../../domain/evidence.ts';
import { ADVICE_BY_KIND, ADVICE_BY_RULE, type Given } from './advice.ts';
import { bestOf, type Ruling } from './classify.ts';
import { isTestPath } from './paths.ts';
import { placesOf } from './places.ts';
import { confirmedEntry, fittingDocument } from './retrieved.ts';
import type { Match } from './rule.ts';
import { oneLine, toldBy } from './told.ts';

/** One thing to do: what a person confirmed, else what the rule or kind advises; a document's advice only where neither has any. */
export function fixOf(ruling: Ruling, classification: Classification, evidence: readonly Evidence[]): string {
  const confirmed = confirmedEntry(evidence, classification.category);
  if (confirmed?.fix != null) return `${confirmed.fix} (confirmed by ${confirmed.confirmedBy} for an earlier failure of this kind)`;
  const match = bestOf(ruling.matches, classification.category);
  const own = ADVICE_BY_RULE[match?.rule.name ?? ''] ?? ADVICE_BY_KIND[classification.kind];
  if (own !== undefined && classification.kind !== 'unknown') return own(givenBy(ruling, match));
  const document = fittingDocument(evidence, classification.category, classification.kind);
  return document?.fix ?? 'Read the quoted lines; the log alone does not say what to change.';
}

function givenBy(ruling: Ruling, match: Match | null): Given {
  const { facts } = ruling;
  const test = facts.subject.failingTests[0]?.name;
  const told = match === null ? { said: '', log: '', facts } : toldBy(match, facts);
  return { text: told.said, told, place: placeText(ruling), test: test === undefined ? 'the test' : oneLine(test, 100) };
}

function placeText(ruling: Ruling): string {
  const places = placesOf(ruling.facts.subject);
  const code = places.filter((one) => !isTestPath(one.path));
  const place = code.find((one) => one.line !== null) ?? code[0] ?? places[0];
  return place === undefined ? 'the named file' : place.line === null ? place.path : `${place.path}:${place.line}`;
}
