import { SaxesParser } from 'saxes';
import { countIn } from '../../lib/text.ts';
import { createLineCounter } from './line-counter.ts';
import type { Stretch } from './passages.ts';

export type Attributes = Readonly<Record<string, string>>;

/** The callbacks for the parts of a document. Names come without a namespace prefix. */
export interface XmlHandler {
  /** Handles an opening tag. `line` is the 1-based line of its end, and `end` the offset after it. */
  open(name: string, attributes: Attributes, line: number, end: number): void;
  /** Handles text and CDATA. Long text comes in one piece, with its position. */
  text?(text: string, at: Stretch): void;
  close?(name: string): void;
  /** Handles the end of the document, complete or truncated. */
  end?(): void;
}

/** The place at which a document is not well-formed. `why` is a phrase for people. */
export interface XmlFault {
  readonly line: number;
  readonly why: string;
}

const MAX_DEPTH = 200;
const MAX_ELEMENTS = 20_000_000;
/** The maximum number of faults before reading stops. */
const MAX_FAULTS = 1_000;
/**
 * Characters that XML forbids but reporters write, because a test printed them. Color codes are matched as a
 * whole.
 */
const FORBIDDEN = new RegExp(
  String.raw`(?:\x1b|&#(?:27|x1b);)\[[\d;?]{0,30}[A-Za-z]|[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|` +
    String.raw`&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bce-f]|1[0-9a-f]|fff[ef]));`,
  'gi',
);
const DECLARATION = /^\s{0,1000}<\?xml\b[^<>]{0,500}>/;

/** A document without forbidden characters, with the same lines. */
export interface XmlText {
  readonly text: string;
  /** The number of forbidden characters that were removed, and the line of the first one. */
  readonly forbidden: { readonly count: number; readonly line: number } | null;
}

/** Removes the characters that XML forbids, and the declaration, because the text is already decoded. */
export function prepareXml(xml: string): XmlText {
  let count = 0;
  let first = 0;
  const plain = xml.replace(FORBIDDEN, (found: string, offset: number) => {
    // Color codes do not count as damage.
    if (!/[A-Za-z]$/.test(found) && count++ === 0) first = offset;
    return '';
  });
  const begun = plain.match(/^[\ufeff\s]{1,1000}/)?.[0] ?? '';
  const unmarked = begun.includes('\ufeff')
    ? begun.replaceAll('\ufeff', '') + plain.slice(begun.length)
    : plain;
  const text = unmarked.replace(DECLARATION, (declared) => declared.replace(/\S/g, ' '));
  return { text, forbidden: count === 0 ? null : { count, line: countIn(xml.slice(0, first), '\n') + 1 } };
}

const BARE = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)|<(?![A-Za-z_/!?])/gi;

/** Escapes characters outside CDATA that a reporter failed to escape. The number of lines does not change. */
export function escapeBareSigns(text: string): string {
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    const start = text.indexOf(CDATA, at);
    const end = start === -1 ? -1 : text.indexOf(CDATA_END, start);
    parts.push(
      text
        .slice(at, start === -1 ? text.length : start)
        .replace(BARE, (found) => (found === '&' ? '&amp;' : '&lt;')),
    );
    at = end === -1 ? text.length : end;
    if (start !== -1) parts.push(text.slice(start, at));
  }
  return parts.join('');
}

/**
 * Reads a prepared document, which may be hostile, as far as possible. Only the five predefined entities are
 * expanded, no document type is fetched, and depth, size and number of faults are limited. Returns the first
 * fault, or null if there is none. Throws Error with a message for people if the document is refused; content
 * before that has been passed on.
 */
export function readXml(text: string, handler: XmlHandler): XmlFault | null {
  const parser = new SaxesParser({ xmlns: false, position: false });
  const lineAt = createLineCounter(text);
  let depth = 0;
  let elements = 0;
  let faults = 0;
  let fault: XmlFault | null = null;
  let markupEnd = 0;
  parser.on('error', ({ message }) => {
    fault ??= { line: lineAt(parser.position), why: message.replace(/\.$/, '') };
    if (++faults > MAX_FAULTS)
      throw new Error(`line ${fault.line}: ${fault.why}, and ${MAX_FAULTS} faults after that`);
  });
  parser.on('doctype', (declared) => {
    if (declared.includes('[')) throw new Error('its document type defines entities, which is refused');
    markupEnd = parser.position;
  });
  parser.on('opentag', (tag) => {
    if (++depth > MAX_DEPTH) throw new Error(`its elements are nested more than ${MAX_DEPTH} deep`);
    if (++elements > MAX_ELEMENTS) throw new Error(`it has more than ${MAX_ELEMENTS} elements`);
    markupEnd = parser.position;
    handler.open(getLocalName(tag.name), getLocalAttributes(tag.attributes), lineAt(markupEnd), markupEnd);
  });
  parser.on('text', (content) => {
    const end = parser.position - (text[parser.position - 1] === '<' ? 1 : 0);
    handler.text?.(content, { start: Math.min(markupEnd, end), end, writing: 'xml' });
  });
  parser.on('cdata', (content) => {
    markupEnd = parser.position;
    const start = text.lastIndexOf(CDATA, markupEnd) + CDATA.length;
    handler.text?.(content, { start, end: markupEnd - CDATA_END.length, writing: 'plain' });
  });
  for (const name of ['comment', 'processinginstruction'] as const)
    parser.on(name, () => {
      markupEnd = parser.position;
    });
  parser.on('closetag', (tag) => {
    depth--;
    // The callback of a self-closing tag has been called already.
    markupEnd = parser.position;
    handler.close?.(getLocalName(tag.name));
  });
  try {
    parser.write(text).close();
  } finally {
    handler.end?.();
  }
  return fault;
}

const CDATA = '<![CDATA[';
const CDATA_END = ']]>';

/**
 * Finds the value of an attribute in the tag that ends at `end`. Returns null if the tag does not have it.
 */
export function attributeAt(text: string, end: number, pattern: RegExp): Stretch | null {
  const tagStart = text.lastIndexOf('<', end - 1);
  const found = pattern.exec(text.slice(tagStart, end));
  if (found === null) return null;
  const start = tagStart + found.index + found[0].length;
  const close = text.indexOf(found[0].at(-1) ?? '"', start);
  return close === -1 || close >= end ? null : { start, end: close, writing: 'xml' };
}

/**
 * Returns the name of a document's root element or document type, without its prefix. Returns null if the
 * text does not begin like XML.
 */
export function findRootElement(text: string): string | null {
  let rest = text.slice(0, 20_000).replace(/^[\ufeff\s]{1,1000}/, '');
  for (let i = 0; i < 20; i++) {
    const end = rest.startsWith('<?')
      ? rest.indexOf('>') + 1
      : rest.startsWith('<!--')
        ? rest.indexOf('-->') + 3
        : -1;
    if (end < 2) break;
    rest = rest.slice(end).trimStart();
  }
  const name = /^<(?:!DOCTYPE\s{1,20})?(?<name>[A-Za-z_][\w.:-]{0,100})/i.exec(rest)?.groups?.name;
  return name === undefined ? null : getLocalName(name);
}

/** Parses a number, which may have commas between thousands. Returns null if it is not a number. */
export function parseNumber(value: string | undefined): number | null {
  const number = value === undefined || value.trim() === '' ? Number.NaN : Number(value.replaceAll(',', ''));
  return Number.isFinite(number) ? number : null;
}

/** Converts seconds to milliseconds, rounded to microseconds. */
export function convertSecondsToMs(value: string | undefined): number | null {
  const seconds = parseNumber(value);
  return seconds === null ? null : Math.round(seconds * 1e6) / 1e3;
}

function getLocalName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function getLocalAttributes(attributes: Attributes): Attributes {
  if (!Object.keys(attributes).some((name) => name.includes(':'))) return attributes;
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name.startsWith('xmlns') ? name : getLocalName(name),
      value,
    ]),
  );
}
