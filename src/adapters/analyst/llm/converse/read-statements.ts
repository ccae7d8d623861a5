import type { Quote } from '../../../../domain/analysis.ts';
import type { Statement } from '../../../../domain/conversation.ts';
import type { Evidence } from '../../../../domain/evidence.ts';
import { cleanLine, stripEscapes } from '../../../../log/lines/clean.ts';
import { literalQuote } from '../literal-quote.ts';

/** An answer longer than this is no answer to a question. */
const MAX_TEXT = 12_000;
const MAX_STATEMENTS = 80;
const SHORTEST_QUOTE = 4;

/** What a line of the text begins with: blanks, a bullet, a number. */
const LINE_LEAD = /^[ \t]{0,20}(?:[-*•] {0,4}|\d{1,3}[.)] {1,4})?/;
/** Between two sentences; citations behind the full stop belong to the first. */
const SENTENCE_END = /[.!?](?: ?\[E\d{1,5}(?:, ?E\d{1,5}){0,8}\]){0,6} {1,4}(?=[\p{Lu}"“(\d])/gu;
const GROUP = /[[(]([^\][()\n]{2,80})[\])]/g;
const QUOTED = /["“]([^"“”\n]{2,400})["”]/g;
const LINK = /!?\[([^\][\n]{0,200})\]\([^()\s]{1,500}\)/g;

/**
 * The model's text as statements that can be checked: each with the evidence it cites and the words it quotes. `common` is what both
 * sides have said already; its words in quotation marks are no quotations of evidence.
 */
export function readStatements(text: string, evidence: readonly Evidence[], common: string): Statement[] {
  const plain = text
    .slice(0, MAX_TEXT)
    .replace(LINK, (_link, words: string) => (isCitation(words) ? `[${words}]` : words))
    .trim();
  const statements: Statement[] = [];
  let gap = '';
  for (const line of plain.split('\n')) {
    if (line.trim() === '') {
      gap = '\n';
      continue;
    }
    const mark = LINE_LEAD.exec(line)?.[0] ?? '';
    const start = statements.length === 0 ? '' : `${gap}\n`;
    gap = '';
    for (const [index, sentence] of sentencesOf(line.slice(mark.length)).entries()) {
      statements.push(statementOf(index === 0 ? `${start}${mark.trimStart()}` : ' ', sentence, evidence, common));
    }
  }
  return statements.slice(0, MAX_STATEMENTS);
}

function sentencesOf(line: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const end of line.matchAll(SENTENCE_END)) {
    const to = end.index + end[0].length;
    sentences.push(line.slice(from, to).trim());
    from = to;
  }
  return [...sentences, line.slice(from).trim()].filter((sentence) => sentence !== '');
}

function statementOf(lead: string, text: string, evidence: readonly Evidence[], common: string): Statement {
  const ids = [...new Set([...text.matchAll(GROUP)].flatMap(([, words = '']) => (isCitation(words) ? idsIn(words) : [])))];
  const cited = evidence.filter(({ id }) => ids.includes(id));
  const words = [...text.matchAll(QUOTED)].flatMap(([, quoted = '']) => partsOf(quoted)).filter((part) => !common.includes(part));
  const quotes = words.map((part) => placeOf(part, ids.length === 0 ? evidence : cited));
  return { lead, text, evidence: ids, quotes, basis: ids.length === 0 ? 'none' : 'evidence' };
}

function isCitation(words: string): boolean {
  return idsIn(words).every((id) => /^E\d{1,5}$/.test(id));
}

function idsIn(words: string): string[] {
  return words.split(/[,;]| and /).map((id) => id.trim());
}

/** A quotation with an ellipsis is two; the mark that ends a sentence is not part of what is quoted. */
function partsOf(quoted: string): string[] {
  return quoted
    .split(/…|\.\.\./)
    .map((part) => part.trim().replace(/[.,;:]$/, ''))
    .filter((part) => part.length >= SHORTEST_QUOTE);
}

/** Where the words stand; where they stand nowhere, a place that the check will refuse. */
function placeOf(words: string, items: readonly Evidence[]): Quote {
  for (const item of items) {
    const quote = findIn(words, item);
    if (quote !== null) return quote;
  }
  const [first] = items;
  return { source: first?.source ?? '', line: first?.lineStart ?? 1, text: words };
}

function findIn(words: string, item: Evidence): Quote | null {
  const { source, lineStart } = item;
  if (lineStart === undefined) return item.text.includes(words) ? { source, line: 1, text: words } : null;
  for (const [offset, raw] of item.text.split('\n').entries()) {
    const line = lineStart + offset;
    if (raw.includes(words)) return { source, line, text: words };
    const shown = cleanLine(stripEscapes(raw));
    if (shown.includes(words)) return literalQuote({ source, line, text: words }, [item]);
    // Models shorten runs of blanks; the line is the same.
    if (squeeze(shown).includes(squeeze(words)) && raw.includes(shown.trim())) return { source, line, text: shown.trim() };
  }
  return null;
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ');
}
