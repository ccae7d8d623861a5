import { SaxesParser } from 'saxes';
import { countIn } from '../../lib/text.ts';
import { createLineCounter } from './line-counter.ts';
import type { Stretch } from './passages.ts';

export type Attributes = Readonly<Record<string, string>>;

/** The callbacks that handle a document as it is read. Names come without their namespace's prefix. */
export interface XmlHandler {
  /** Handles an opening tag. `line` is where the tag ends, 1-based; `end` is the offset after it. */
  open(name: string, attributes: Attributes, line: number, end: number): void;
  /** Handles text and CDATA; long text comes in one piece, with its place. */
  text?(text: string, at: Stretch): void;
  close?(name: string): void;
  /** Handles the end of the document, whether it is whole or cut off. */
  end?(): void;
}

/** The place at which a document breaks the rules of XML: `why` is a phrase for people. */
export interface XmlFault {
  readonly line: number;
  readonly why: string;
}

const MAX_DEPTH = 200;
const MAX_ELEMENTS = 20_000_000;
/** Faults after which a document is read no further. */
const MAX_FAULTS = 1_000;
/**
 * Characters that XML forbids and reporters write all the same, because a test printed them; colors go whole.
 */
const FORBIDDEN = new RegExp(
  String.raw`(?:\x1b|&#(?:27|x1b);)\[[\d;?]{0,30}[A-Za-z]|[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|` +
    String.raw`&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bce-f]|1[0-9a-f]|fff[ef]));`,
  'gi',
);
const DECLARATION = /^\s{0,1000}<\?xml\b[^<>]{0,500}>/;

/** A document as it can be parsed: the same lines, without what XML forbids. */
export interface XmlText {
  readonly text: string;
  /** The number of removed characters that XML forbids, and the line of the first. */
  readonly forbidden: { readonly count: number; readonly line: number } | null;
}

/**
 * Leaves out what XML forbids, and the declaration: the text is decoded already, whatever it says of its
 * encoding.
 */
export function prepareXml(xml: string): XmlText {
  let count = 0;
  let first = 0;
  const plain = xml.replace(FORBIDDEN, (found: string, offset: number) => {
    // A color is no damage.
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

/** Escapes the signs outside CDATA that a reporter forgot to escape: they are text. Lines stay. */
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
 * Reads a hostile document, prepared, as far as it goes: no document type with definitions of its own, none
 * fetched, no entity but XML's own five, bounded depth, count and faults. Returns its first fault, or null.
 * Throws Error, with words for people, where it is refused; what came before has been handed over.
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
    // A self-closing tag has handed itself over already.
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

/** Finds the value of an attribute in the tag that ends at `end`; null if the tag has none. */
export function attributeAt(text: string, end: number, pattern: RegExp): Stretch | null {
  const tagStart = text.lastIndexOf('<', end - 1);
  const found = pattern.exec(text.slice(tagStart, end));
  if (found === null) return null;
  const start = tagStart + found.index + found[0].length;
  const close = text.indexOf(found[0].at(-1) ?? '"', start);
  return close === -1 || close >= end ? null : { start, end: close, writing: 'xml' };
}

/**
 * Returns the name of a document's first element, or of its document type, without its prefix; null if the
 * text does not begin as XML does.
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

/**
 * Parses a number as reporters write it, sometimes with commas between thousands; null if it is not a number.
 */
export function parseNumber(value: string | undefined): number | null {
  const number = value === undefined || value.trim() === '' ? Number.NaN : Number(value.replaceAll(',', ''));
  return Number.isFinite(number) ? number : null;
}

/** Seconds as milliseconds, to the microsecond. */
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
