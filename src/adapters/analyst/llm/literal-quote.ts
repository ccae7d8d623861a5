import type { Quote } from '../../../domain/analysis.ts';
import type { Evidence } from '../../../domain/evidence.ts';
import { cleanLine, stripEscapes } from '../../../log/lines/clean.ts';

const SHORTEST = 4;

/**
 * Models read log lines without colour codes; quotations must stand in the stored line with them. A quotation that is true of
 * the line as shown becomes its longest part that no code interrupts; any other stays as given, for the graph to judge.
 */
export function literalQuote(quote: Quote, evidence: readonly Evidence[]): Quote {
  for (const item of evidence) {
    if (item.source !== quote.source || item.lineStart === undefined) continue;
    const raw = item.text.split('\n')[quote.line - item.lineStart];
    if (raw === undefined) continue;
    if (raw.includes(quote.text)) return quote;
    if (!cleanLine(stripEscapes(raw)).includes(quote.text)) continue;
    const part = longestPart(quote.text, raw);
    if (part.length >= SHORTEST) return { ...quote, text: part };
  }
  return quote;
}

/** The longest stretch between two control sequences that lies within the quotation. */
function longestPart(quoted: string, raw: string): string {
  const pieces = raw.split('\u001b').map((piece, index) => (index === 0 ? piece : stripEscapes(`\u001b${piece}`)));
  const start = pieces.join('').indexOf(quoted);
  if (start < 0) return '';
  let at = 0;
  let longest = '';
  for (const piece of pieces) {
    const part = piece.slice(Math.max(0, start - at), Math.max(0, start + quoted.length - at)).trim();
    if (part.length > longest.length) longest = part;
    at += piece.length;
  }
  return longest;
}
