import type { Claim, Quote } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import { quoteLine } from './wording.ts';

const INFORMATIVE =
  /\b(?:error|fail(?:ed|ure|s)?|exception|expected|cannot|not found|refused|denied|timed? ?out|killed|undefined|assert\w{0,10})\b/i;
const MAX_QUOTED = 200;

/**
 * Describes evidence by its most informative line, with a quotation:
 * `build.log:121 (failed test) says “expected 10.20, got 10.21”`. If no line can be quoted, returns its
 * title.
 */
export function describeLine(
  item: Evidence,
  claims: readonly Claim[],
  title: string,
): { text: string; quotes: Quote[] } {
  const quote = chooseQuote(
    item,
    claims.flatMap((claim) => claim.quotes),
  );
  if (quote === null) return { text: title, quotes: [] };
  return { text: `${quote.source}:${quote.line} (${title}) says ${quoteText(quote.text)}`, quotes: [quote] };
}

/** Formats a text of a log in quotation marks. Long texts are shortened. */
export function quoteText(text: string): string {
  return `“${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text}”`;
}

/** Returns the line that a claim quotes, or else the first line with an error, or else the first line. */
function chooseQuote(item: Evidence, claimed: readonly Quote[]): Quote | null {
  const { lineStart } = item;
  if (lineStart === undefined) return null;
  const lines = item.text.split('\n');
  const isIn = ({ source, line, text }: Quote) =>
    source === item.source && (lines[line - lineStart]?.includes(text) ?? false);
  const known = claimed.find(isIn);
  if (known !== undefined) return known;
  const informative = lines.findIndex((line) => INFORMATIVE.test(line.slice(0, 500)));
  const offset = informative >= 0 ? informative : lines.findIndex((line) => line.trim() !== '');
  const quotation = offset < 0 ? null : quoteLine(item.source, lineStart + offset, [item]);
  return quotation?.quote ?? null;
}
