import { append, findFirstPlace } from '../../lib/collections.ts';
import { parseJson } from '../reports/json.ts';
import { isXmlReport } from '../reports/report.ts';
import { hideSpans, type Masked, mergeSpans, type Span } from './span.ts';

/**
 * A range of a report that contains a value. Anything in it may be hidden; the text between values is markup.
 */
interface Value extends Span {
  /** The pattern of units that are hidden as a whole: an entity of XML, an escape of JSON. */
  readonly whole: RegExp | null;
}

const ENTITY = /&#?\w{1,12};/g;
const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|[^u])/g;
const NAMED = /<(EMAIL|HOST)((?:_\d{1,6})?)>/g;

/**
 * Hides spans of a report so that it can still be parsed. A secret in a value seems to include the closing
 * tag or quotation mark after it, which are kept. A span that begins in markup is hidden, because not every
 * text that begins like XML is XML throughout. Returns null for a text that is neither XML nor JSON.
 */
export function hideInReport(text: string, spans: readonly Span[]): Masked | null {
  if (spans.length === 0) return null;
  if (isXmlReport(text)) {
    const values = listXmlValues(text);
    return hideSpans(
      text,
      mergeSpans([...listWithin(values, text, spans), ...findMarkupSpans(values, text, mergeSpans(spans))]),
    );
  }
  return parseJson(text) === undefined ? null : hideInJson(text, spans);
}

/**
 * Replaces the brackets around names of e-mail addresses and hosts in XML text by entities, because the names
 * look like tags.
 */
export function replaceNames(text: string): string {
  if (!isXmlReport(text)) return text;
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const cdata = text.indexOf(CDATA, at);
    const end = cdata === -1 ? -1 : text.indexOf(']]>', cdata);
    parts.push(text.slice(at, cdata === -1 ? text.length : cdata).replace(NAMED, '&lt;$1$2&gt;'));
    if (cdata === -1) break;
    at = end === -1 ? text.length : end;
    parts.push(text.slice(cdata, at));
  }
  return parts.join('');
}

const CDATA = '<![CDATA[';

function hideInJson(text: string, spans: readonly Span[]): Masked {
  const merged = mergeSpans(spans);
  const parts: string[] = [];
  let [at, count] = [0, 0];
  for (const token of listJsonTokens(text)) {
    const overlaps = listOverlapping(merged, token);
    if (overlaps.length === 0) continue;
    const isText = text[token.from] === '"';
    const inside = { from: token.from + 1, to: token.to - 1, whole: ESCAPE };
    const hidden = isText ? listWithin([inside], text, overlaps) : [];
    parts.push(text.slice(at, token.from));
    const whole = hideSpans(
      text.slice(token.from, token.to),
      hidden.map(({ from, to }) => ({ from: from - token.from, to: to - token.from })),
    );
    parts.push(isText ? whole.text : '"***"');
    count += isText ? whole.count : 1;
    at = token.to;
  }
  parts.push(text.slice(at));
  return { text: parts.join(''), count };
}

/** Returns the merged spans that overlap a range at least in part. */
function listOverlapping(merged: readonly Span[], { from, to }: Span): readonly Span[] {
  const first = findFirstPlace(merged.length, (place) => (merged[place]?.to ?? 0) <= from);
  let end = first;
  while ((merged[end]?.from ?? to) < to) end++;
  return merged.slice(first, end);
}

/**
 * Lists the strings, with quotation marks, and the numbers of a JSON text. A single pattern would overflow
 * the stack on a very long string.
 */
function* listJsonTokens(text: string): Generator<Span> {
  for (let from = 0; from < text.length; ) {
    const first = text[from] ?? '';
    let to = from + 1;
    if (first === '"') {
      while (to < text.length && text[to] !== '"') to += text[to] === '\\' ? 2 : 1;
      to += 1;
    } else if (/[-\d]/.test(first)) while (/[\d.eE+-]/.test(text[to] ?? '')) to += 1;
    if (to > from + 1) yield { from, to };
    from = to;
  }
}

/** Returns the parts of the spans that are in values. */
function listWithin(values: readonly Value[], text: string, spans: readonly Span[]): Span[] {
  const merged = mergeSpans(spans);
  const kept: Span[] = [];
  for (const value of values) {
    const overlaps = listOverlapping(merged, value).map(({ from, to }) => ({
      from: Math.max(from, value.from),
      to: Math.min(to, value.to),
    }));
    if (overlaps.length > 0) append(kept, alignSpans(overlaps, value, text));
  }
  return mergeSpans(kept);
}

/** The text that ends a value: a closing tag, a quotation mark, or the delimiters of CDATA and comments. */
const ENDS_VALUE = /^(?:<\/|<!|["']|\]\]>|-->)/;

/**
 * Returns the parts of the merged spans between values, except the delimiter after the value in which a span
 * begins.
 */
function findMarkupSpans(values: readonly Value[], text: string, merged: readonly Span[]): Span[] {
  const hidden: Span[] = [];
  let start = 0;
  for (const { from: end, to } of [...values, { from: text.length, to: text.length }]) {
    const endsValue = ENDS_VALUE.test(text.slice(start, start + 3));
    for (const span of end > start ? listOverlapping(merged, { from: start, to: end }) : [])
      if (span.from >= start || !endsValue)
        hidden.push({ from: Math.max(span.from, start), to: Math.min(span.to, end) });
    start = to;
  }
  return hidden;
}

/**
 * Extends the spans of one value so that entities and escapes are hidden as a whole. The spans must ascend.
 */
function alignSpans(
  spans: readonly Span[],
  { from: start, to: end, whole }: Value,
  text: string,
): readonly Span[] {
  if (whole === null) return spans;
  const wholes = Array.from(text.slice(start, end).matchAll(whole), ({ 0: token, index }) => ({
    from: start + index,
    to: start + index + token.length,
  }));
  let next = 0;
  return spans.map(({ from, to }) => {
    while ((wholes[next]?.to ?? end) <= from && next < wholes.length) next += 1;
    let [first, last] = [from, to];
    for (let at = next; at < wholes.length; at += 1) {
      const { from: begins, to: ends } = wholes[at] ?? { from: end, to: end };
      if (begins >= last) break;
      if (begins < first && first < ends) first = begins;
      if (begins < last && last < ends) last = ends;
    }
    return { from: first, to: last };
  });
}

/** Lists texts, attribute values, CDATA and comments of an XML document. */
function listXmlValues(text: string): Value[] {
  const values: Value[] = [];
  const add = (from: number, to: number, whole: RegExp | null) => {
    if (to > from) values.push({ from, to, whole });
  };
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('<', at);
    add(at, open === -1 ? text.length : open, ENTITY);
    if (open === -1) break;
    const [begins, ends] = text.startsWith(CDATA, open)
      ? [CDATA.length, ']]>']
      : text.startsWith('<!--', open)
        ? [4, '-->']
        : [0, '>'];
    if (begins > 0) {
      const close = text.indexOf(ends, open + begins);
      add(open + begins, close === -1 ? text.length : close, null);
      at = close === -1 ? text.length : close + ends.length;
    } else at = findTagEnd(text, open, add);
  }
  return values;
}

/**
 * Returns where a tag ends, and passes the values of its attributes to `add`. A `<` that does not open a tag
 * is text.
 */
function findTagEnd(
  text: string,
  open: number,
  add: (from: number, to: number, whole: RegExp | null) => void,
): number {
  if (!/[A-Za-z_/?!]/.test(text[open + 1] ?? '')) {
    add(open, open + 1, null);
    return open + 1;
  }
  let at = open + 1;
  while (at < text.length && text[at] !== '>') {
    const quote = text[at];
    at += 1;
    if (quote !== '"' && quote !== "'") continue;
    const close = text.indexOf(quote, at);
    add(at, close === -1 ? text.length : close, ENTITY);
    at = close === -1 ? text.length : close + 1;
  }
  return at + 1;
}
