import { type Classification, isNotDevelopersFault } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import { type LineRole, roleOf } from '../log/roles.ts';
import { ADVICE_BY_KIND, ADVICE_BY_RULE, type Given } from './advice.ts';
import { bestOf, type Ruling } from './classify.ts';
import { isTestPath } from './paths.ts';
import { placesOf } from './places.ts';
import { confirmedEntry, fittingDocument } from './retrieved.ts';
import type { Match } from './rule.ts';
import { lastingFailure } from './seen-elsewhere.ts';
import { oneLine, toldBy } from './wording.ts';

/**
 * One thing to do: what a person confirmed, else what the rule advises, else what the kind does with the advice that the failed tool itself prints; a
 * document's advice only where none of them has any.
 */
export function fixOf(ruling: Ruling, classification: Classification, evidence: readonly Evidence[]): string {
  const lasting = isNotDevelopersFault(classification) ? lastingFailure(evidence) : null;
  const again =
    lasting === null ? '' : `It failed this way ${lasting.times} times in a row, since #${lasting.since}: rerunning it will not help. `;
  return `${again}${adviceOf(ruling, classification, evidence)}`;
}

function adviceOf(ruling: Ruling, classification: Classification, evidence: readonly Evidence[]): string {
  const confirmed = confirmedEntry(evidence, classification.category);
  if (confirmed?.fix != null) return `${confirmed.fix} (confirmed by ${confirmed.confirmedBy} for an earlier failure of this kind)`;
  const match = bestOf(ruling.matches, classification.category);
  const byRule = ADVICE_BY_RULE[match?.rule.name ?? ''];
  if (byRule !== undefined) return byRule(givenBy(ruling, match));
  const printed = printedAdvice(ruling.facts.subject);
  const byKind = classification.kind === 'unknown' ? undefined : ADVICE_BY_KIND[classification.kind];
  if (byKind !== undefined) return `${byKind(givenBy(ruling, match))}${printed === null ? '' : ` The log says: “${printed}”.`}`;
  if (printed !== null) return `The log says what to do: “${printed}”.`;
  const document = fittingDocument(evidence, classification.category, classification.kind);
  return document?.fix ?? startingPoint(ruling);
}

/** The line beside the telling ones in which the tool says what to do about it; null where none does. */
function printedAdvice({ messages, excerpts, diagnostics }: TriageSubject): string | null {
  // What is reported is no advice, however it is worded: "Use 'const' instead".
  const findings = new Set(diagnostics.map(({ at }) => `${at?.source}:${at?.line}`));
  const near = messages.slice(0, MOST_TELLING).flatMap(({ at }) => (at === null ? [] : [at]));
  for (const { source, line } of near) {
    const excerpt = excerpts.find((one) => one.source === source && one.lineStart <= line && line <= one.lineEnd);
    const lines = excerpt?.text.split('\n') ?? [];
    const from = line - (excerpt?.lineStart ?? line);
    for (let offset = 0; offset <= LINES_BELOW; offset++) {
      const text = cleanLine(stripEscapes(lines[from + offset] ?? '')).trim();
      if (!findings.has(`${source}:${line + offset}`) && ADVICE.test(text) && ADVISING.has(roleOf(text)) && !FETCHES.test(text))
        return oneLine(text.replace(SEVERITY, ''), 240);
    }
  }
  return null;
}

const [MOST_TELLING, LINES_BELOW] = [3, 6];
/** A log is written by strangers: what fetches and runs something is never passed on as advice. */
const FETCHES = /\b(?:curl|wget|iwr|iex|eval|Invoke-\w{1,40})\b|\|\s{0,4}(?:sudo\s{1,4})?(?:ba|z|da)?sh\b|\$\(/i;
const ADVISING: ReadonlySet<LineRole> = new Set(['cause', 'notice']);
const SEVERITY = /^[^\p{L}\p{N}"'`(<]{0,20}(?:(?:error|warning|err!|help|hint|note|suggestion)\b[\]:! ]{0,3})?/iu;
const ADVICE =
  /(?:^|[.:;!?—–-] {1,3}|\bplease )(?:try|run|use|install|upgrade|update|add|set|remove|rename|pass|specify|check|ensure|make sure|consider|provide|create|change|increase|did you (?:mean|forget))\b(?! \w{2,20}(?:ing|ed)\b)|\byou (?:need|have|must|should|can|may want)\b/i;

function startingPoint(ruling: Ruling): string {
  const place = placeText(ruling);
  const [step] = ruling.facts.subject.failedSections;
  if (place !== NO_PLACE) return `Start at ${place}, which the log names; nothing in the log says what to change.`;
  return `Read the quoted lines${step === undefined ? '' : ` of the step “${oneLine(step.name, 80)}”`}; nothing in the log says what to change.`;
}

function givenBy(ruling: Ruling, match: Match | null): Given {
  const { facts } = ruling;
  const test = facts.subject.failingTests[0]?.name;
  const told = match === null ? { said: '', log: '', facts } : toldBy(match, facts);
  return { text: told.said, told, place: placeText(ruling), test: test === undefined ? 'the test' : quoted(oneLine(test, 100)) };
}

function placeText(ruling: Ruling): string {
  const places = placesOf(ruling.facts.subject);
  const code = places.filter((one) => !isTestPath(one.path));
  const place = code.find((one) => one.line !== null) ?? code[0] ?? places[0];
  return place === undefined ? NO_PLACE : place.line === null ? place.path : `${place.path}:${place.line}`;
}

const NO_PLACE = 'the named file';

/** A name of several words is told apart from the sentence around it. */
function quoted(name: string): string {
  return name.includes(' ') ? `“${name}”` : name;
}
