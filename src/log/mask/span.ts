/** A part of a text that is to be hidden: from (inclusive) to (exclusive), in UTF-16 code units, or in bytes where that is said. Never holds a line end. */
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

const COLOR = /\u001b\[[\d;]{0,20}[A-Za-z]/g;

/** The same text with spaces for colors: the letter that ends one is no part of the token behind it. Nothing moves. */
export function withoutColors(text: string): string {
  return text.includes('\u001b[') ? text.replace(COLOR, (color) => ' '.repeat(color.length)) : text;
}

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

/** Any number of merged spans, ascending, in little memory. */
export class SpanList {
  count = 0;
  #ends = new Uint32Array(16);

  add(from: number, to: number): void {
    if (this.count * 2 === this.#ends.length) {
      const larger = new Uint32Array(this.#ends.length * 2);
      larger.set(this.#ends);
      this.#ends = larger;
    }
    this.#ends.set([from, to], 2 * this.count++);
  }

  /** What lies from `start` to before `end`, counted from `start`; a span across a border is cut there. */
  overlapping(start: number, end: number): Span[] {
    let low = 0;
    for (let high = this.count; low < high; ) {
      const middle = (low + high) >> 1;
      if ((this.#ends[2 * middle + 1] ?? 0) <= start) low = middle + 1;
      else high = middle;
    }
    const spans: Span[] = [];
    for (let at = 2 * low; at < 2 * this.count && (this.#ends[at] ?? end) < end; at += 2)
      spans.push({ from: Math.max(0, (this.#ends[at] ?? 0) - start), to: Math.min(end, this.#ends[at + 1] ?? 0) - start });
    return spans;
  }
}
