import type { Claim, Classification } from '../../../domain/analysis.ts';
import type { Evidence } from '../../../domain/evidence.ts';
import type { LogPosition } from '../../../domain/failure.ts';
import { bestOf, type Ruling } from './classify.ts';
import { type Quotation, quoteFact, quoteLine, quoteText } from './quotes.ts';
import { confirmedEntry, fittingDocument } from './retrieved.ts';
import { toolName } from './words.ts';

const MAX_CLAIMS = 6;

/** Statements that stand on evidence: each cites it, and quotes of the log stand literally on their line. */
export function claimsOf(rootCause: string, ruling: Ruling, classification: Classification, evidence: readonly Evidence[]): Claim[] {
  const decisive = bestOf(ruling.matches, classification.category) ?? ruling.decisive;
  const main = decisive === null ? null : quoteFact(decisive.fact, evidence);
  const candidates = [
    main === null ? null : claim(rootCause, main),
    ...testClaims(ruling, evidence),
    ...placeClaims(ruling, evidence),
    exitClaim(ruling, evidence),
    ...retrievedClaims(classification, evidence),
    ...commitClaims(evidence),
  ];
  const seen = new Set<string>();
  const kept = candidates.filter((entry): entry is Claim => entry !== null && !seen.has(entry.text) && seen.add(entry.text) !== undefined);
  return kept.slice(0, MAX_CLAIMS);
}

function testClaims(ruling: Ruling, evidence: readonly Evidence[]): (Claim | null)[] {
  return ruling.facts.subject.failingTests.slice(0, 2).map((test) => {
    const quotation = at(test.at, evidence) ?? quoteText(test.name, evidence);
    return quotation === null ? null : claim(`Test ${test.name} failed.`, quotation);
  });
}

function placeClaims(ruling: Ruling, evidence: readonly Evidence[]): (Claim | null)[] {
  const errors = ruling.facts.subject.diagnostics
    .filter((entry) => entry.severity === 'error' && entry.file !== null && entry.tool !== 'make')
    .slice(0, 1);
  return errors.map((entry) => {
    const quotation = at(entry.at, evidence);
    const place = entry.line === null ? entry.file : `${entry.file}:${entry.line}`;
    return quotation === null ? null : claim(`${toolName(entry)} points to ${place}.`, quotation);
  });
}

function exitClaim(ruling: Ruling, evidence: readonly Evidence[]): Claim | null {
  const exit = ruling.facts.subject.exits.at(-1);
  if (exit === undefined || (exit.code === null && exit.signal === null)) return null;
  const quotation = quoteLine(exit.source, exit.line, evidence);
  if (quotation === null) return null;
  return claim(
    exit.signal === null ? `The step ended with exit code ${exit.code}.` : `The process was ended by ${exit.signal}.`,
    quotation,
  );
}

function retrievedClaims(classification: Classification, evidence: readonly Evidence[]): (Claim | null)[] {
  const confirmed = confirmedEntry(evidence, classification.category);
  const document = fittingDocument(evidence, classification.category, classification.kind);
  return [
    confirmed === null
      ? null
      : cite(`${confirmed.confirmedBy} confirmed this cause for an earlier failure: ${confirmed.evidence.title}.`, confirmed.evidence),
    document === null ? null : cite(`The knowledge base describes this kind: ${document.evidence.title}.`, document.evidence),
  ];
}

function commitClaims(evidence: readonly Evidence[]): Claim[] {
  const found = evidence.filter((item) => item.tool === 'read_blame' || item.tool === 'read_commit_history').slice(0, 1);
  return found.map((item) => cite(`Who changed it last: ${item.title}.`, item));
}

function at(position: LogPosition | null, evidence: readonly Evidence[]): Quotation | null {
  return position === null ? null : quoteLine(position.source, position.line, evidence);
}

function claim(text: string, quotation: Quotation): Claim {
  return { text, evidence: [quotation.evidenceId], quotes: [quotation.quote] };
}

function cite(text: string, item: Evidence): Claim {
  return { text, evidence: [item.id], quotes: [] };
}
