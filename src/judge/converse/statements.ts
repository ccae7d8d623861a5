import type { Quote } from '../../domain/analysis.ts';
import type { Statement } from '../../domain/conversation.ts';
import type { Evidence, ToolOutcome } from '../../domain/evidence.ts';
import type { Inquiry } from '../../ports/analyst.ts';
import { quoteLine } from '../quotes.ts';

/** A statement before it is placed in the text. */
export type Said = Omit<Statement, 'lead'>;

const TELLING =
  /\b(?:error|fail(?:ed|ure|s)?|exception|expected|cannot|not found|refused|denied|timed? ?out|killed|undefined|assert\w{0,10})\b/i;
const MAX_TITLE = 200;
const MAX_QUOTED = 200;

/** Resting on numbered evidence. */
export function cited(text: string, evidence: readonly string[], quotes: readonly Quote[] = []): Said {
  const ids = [...new Set(evidence)];
  if (ids.length === 0) return record(text);
  return { text: `${text} ${ids.map((id) => `[${id}]`).join('')}`, evidence: ids, quotes: [...quotes], basis: 'evidence' };
}

/** Resting on the stored build or analysis itself. */
export function record(text: string): Said {
  return { text, evidence: [], quotes: [], basis: 'record' };
}

/** The statements in their shape: numbered, as a list, or one paragraph each. */
export function laidOut(said: readonly Said[], shape: 'numbered' | 'list'): Statement[] {
  return said.map((statement, index) => {
    const mark = shape === 'numbered' ? `${index + 1}. ` : '- ';
    return { lead: index === 0 ? mark : `\n${mark}`, ...statement };
  });
}

/** `build.log:121 (failed test) says “expected 10.20, got 10.21” [E1]`: the line of the evidence that says most. */
export function lineOf(item: Evidence, { topic }: Pick<Inquiry, 'topic'>): Said {
  const quote = tellingQuote(
    item,
    topic.analysis.answer.claims.flatMap((claim) => claim.quotes),
  );
  if (quote === null) return cited(titleOf(item), [item.id]);
  return cited(`${quote.source}:${quote.line} (${titleOf(item)}) says ${quoted(quote.text)}`, [item.id], [quote]);
}

/** Words of a log in quotation marks, cut. */
export function quoted(text: string): string {
  return `“${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text}”`;
}

export function titleOf({ title }: Pick<Evidence, 'title'>): string {
  const line = title.replace(/\s+/g, ' ').trim();
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE)}…` : line;
}

export function foundBy(evidence: readonly Evidence[], ...tools: readonly string[]): Evidence[] {
  return evidence.filter((item) => tools.includes(item.tool));
}

/** What a tool could not tell, and why: an answer without it must say so. */
export function unanswered(outcomes: readonly ToolOutcome[]): Said[] {
  const failed = outcomes.filter((outcome) => outcome.status !== 'ok' && says(outcome));
  return failed.map(({ call, status, summary }) =>
    record(`${call.tool} had no answer (${status}): ${summary.replace(/\s+/g, ' ').slice(0, 200)}`),
  );
}

/** Whether a tool said of itself why it found nothing, so that no other words are needed. */
export function isAnswered({ outcomes }: Pick<Inquiry, 'outcomes'>, tool: string): boolean {
  return outcomes.some((outcome) => outcome.call.tool === tool && outcome.status !== 'ok' && says(outcome));
}

/** That nothing was found is said by whoever tells of it. */
function says({ status, summary }: ToolOutcome): boolean {
  return status !== 'empty' || summary !== 'nothing found';
}

function tellingQuote(item: Evidence, claimed: readonly Quote[]): Quote | null {
  const { lineStart } = item;
  if (lineStart === undefined) return null;
  const lines = item.text.split('\n');
  const isIn = ({ source, line, text }: Quote) => source === item.source && (lines[line - lineStart]?.includes(text) ?? false);
  const known = claimed.find(isIn);
  if (known !== undefined) return known;
  const telling = lines.findIndex((line) => TELLING.test(line.slice(0, 500)));
  const offset = telling >= 0 ? telling : lines.findIndex((line) => line.trim() !== '');
  const quotation = offset < 0 ? null : quoteLine(item.source, lineStart + offset, [item]);
  return quotation === null ? null : quotation.quote;
}
