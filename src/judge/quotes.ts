import type { Quote } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import type { Fact } from './facts.ts';
import { wordsOf } from './words.ts';

/** Words that stand literally on a line, and the evidence that shows that line. */
export interface Quotation {
  readonly evidenceId: string;
  readonly quote: Quote;
}

const MAX_QUOTE = 400;

/** Quotes the line a fact was read from, out of evidence that holds it; null where no evidence shows it. */
export function quoteFact(fact: Fact, evidence: readonly Evidence[]): Quotation | null {
  const atLine = fact.source === null || fact.line === null ? null : quoteLine(fact.source, fact.line, evidence);
  const said = wordsOf(fact);
  if (atLine !== null && squeeze(atLine.quote.text).includes(squeeze(said).slice(0, 40))) return atLine;
  const elsewhere = quoteText(said, evidence);
  return elsewhere ?? (atLine !== null && shares(atLine.quote.text, fact.text) ? atLine : null);
}

/** Quotes one line of a source by its number. */
export function quoteLine(source: string, line: number, evidence: readonly Evidence[]): Quotation | null {
  for (const item of evidence) {
    const { lineStart, lineEnd } = item;
    if (item.source !== source || lineStart === undefined || lineEnd === undefined || line < lineStart || line > lineEnd) continue;
    const text = literal(item.text.split('\n')[line - lineStart] ?? '');
    if (text !== '') return { evidenceId: item.id, quote: { source, line, text } };
  }
  return null;
}

/** Quotes the first line of the evidence that holds the beginning of a text. */
export function quoteText(text: string, evidence: readonly Evidence[]): Quotation | null {
  const wanted = squeeze(text.split('\n').find((line) => line.trim().length > 3) ?? '').slice(0, 120);
  const body = wanted.replace(/^[\w.+-]{1,30}: (?:[A-Z]{0,4}\d{1,6}: )?/, '');
  const needles = [wanted, body, wanted.slice(0, 60)].filter((needle) => needle.length >= 8);
  for (const needle of needles) {
    for (const item of evidence) {
      if (item.lineStart === undefined) continue;
      const offset = item.text.split('\n').findIndex((raw) => squeeze(cleanLine(stripEscapes(raw))).includes(needle));
      const quotation = offset < 0 ? null : quoteLine(item.source, item.lineStart + offset, [item]);
      if (quotation !== null) return quotation;
    }
  }
  return null;
}

/** The part of a stored line that a person reads and that stands in it letter for letter. */
function literal(raw: string): string {
  const shown = cleanLine(stripEscapes(raw)).trim();
  if (shown !== '' && raw.includes(shown)) return shown.slice(0, MAX_QUOTE);
  // Colours inside the line: the longest stretch between two escapes is literal.
  const pieces = raw.split(/\u001b\[[0-?]{0,60}[ -/]{0,10}[@-~]|[\u001b\r]/).map((piece) => piece.trim());
  return pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '').slice(0, MAX_QUOTE);
}

function shares(quoted: string, text: string): boolean {
  const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? []);
  const said = quoted.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
  return said.some((word) => words.has(word));
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
