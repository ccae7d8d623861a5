/** A part of a text that is to be hidden: from (inclusive) to (exclusive), in UTF-16 code units. Never holds a line end. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A text with its secrets hidden, and how many places that were. */
export interface Masked {
  readonly text: string;
  readonly count: number;
}

/** What stands in the place of a secret. GitHub and GitLab write the same. */
const HIDDEN = '***';

/** Sorted, with spans that overlap or touch made one. Empty spans are dropped. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    if (to <= from) continue;
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** The text with each of the merged spans replaced. */
export function hideSpans(text: string, merged: readonly Span[]): Masked {
  if (merged.length === 0) return { text, count: 0 };
  const parts: string[] = [];
  let at = 0;
  for (const { from, to } of merged) {
    parts.push(text.slice(at, from), HIDDEN);
    at = to;
  }
  parts.push(text.slice(at));
  return { text: parts.join(''), count: merged.length };
}
