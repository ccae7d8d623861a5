import { SaxesParser } from 'saxes';
import { countIn } from '../../lib/text.ts';

export type Attributes = Readonly<Record<string, string>>;

/** What is done with a document as it is read. Names come without their namespace's prefix. */
export interface XmlHandler {
  /** `line` is where the tag ends, 1-based. */
  open(name: string, attributes: Attributes, line: number): void;
  /** Text and CDATA; long text comes in one piece. */
  text?(text: string): void;
  close?(name: string): void;
}

const MAX_DEPTH = 200;
const MAX_ELEMENTS = 20_000_000;
/** Characters that XML forbids and reporters write all the same, because a test printed them. */
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bce-f]|1[0-9a-f]|fff[ef]));/gi;

/**
 * Reads a hostile document: no document type with definitions of its own, none fetched, no entity but XML's own five, bounded depth and count. Throws Error, with words for people,
 * at the first break; what came before has been handed over.
 */
export function readXml(xml: string, handler: XmlHandler): void {
  const parser = new SaxesParser();
  const begun = xml.match(/^[\ufeff\s]{1,1000}/)?.[0] ?? '';
  const text = xml.slice(begun.length).replace(FORBIDDEN, '');
  // The parser's own count takes a lone carriage return for the end of a line.
  const linesBefore = begun.split('\n').length - 1;
  const lineAt = createLineCounter(text);
  let depth = 0;
  let elements = 0;
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('doctype', (declared) => {
    if (declared.includes('[')) throw new Error('its document type defines entities, which is refused');
  });
  parser.on('opentag', (tag) => {
    if (++depth > MAX_DEPTH) throw new Error(`its elements are nested more than ${MAX_DEPTH} deep`);
    if (++elements > MAX_ELEMENTS) throw new Error(`it has more than ${MAX_ELEMENTS} elements`);
    handler.open(localName(tag.name), localAttributes(tag.attributes), linesBefore + lineAt(parser.position));
  });
  parser.on('text', (text) => handler.text?.(text));
  parser.on('cdata', (text) => handler.text?.(text));
  parser.on('closetag', (tag) => {
    depth--;
    handler.close?.(localName(tag.name));
  });
  parser.write(text).close();
}

/** The name of a document's first element, or of its document type, without its prefix, or null where the text does not begin as XML does. */
export function rootElement(text: string): string | null {
  let rest = text.slice(0, 20_000).replace(/^[\ufeff\s]{1,1000}/, '');
  for (let i = 0; i < 20; i++) {
    const end = rest.startsWith('<?') ? rest.indexOf('?>') + 2 : rest.startsWith('<!--') ? rest.indexOf('-->') + 3 : -1;
    if (end < 2) break;
    rest = rest.slice(end).trimStart();
  }
  const name = /^<(?:!DOCTYPE\s{1,20})?(?<name>[A-Za-z_][\w.:-]{0,100})/i.exec(rest)?.groups?.name;
  return name === undefined ? null : localName(name);
}

/** A number as reporters write it, thousands separated by commas at times; null where it is none. */
export function numberOf(value: string | undefined): number | null {
  const number = value === undefined || value.trim() === '' ? Number.NaN : Number(value.replaceAll(',', ''));
  return Number.isFinite(number) ? number : null;
}

/** Seconds as milliseconds, to the microsecond. */
export function secondsToMs(value: string | undefined): number | null {
  const seconds = numberOf(value);
  return seconds === null ? null : Math.round(seconds * 1e6) / 1e3;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function localAttributes(attributes: Attributes): Attributes {
  if (!Object.keys(attributes).some((name) => name.includes(':'))) return attributes;
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name.startsWith('xmlns') ? name : localName(name), value]));
}

/** Characters between two places whose line is remembered. */
const STRETCH = 4_096;

/** Gives the 1-based line of a place in a text, over `split('\n')`: a lone `\r` ends none. Whatever the order it is asked in, the text is read once. */
export function createLineCounter(text: string): (at: number) => number {
  /** Lines that end before each stretch. */
  const ended = [0];
  return (at) => {
    const stretch = Math.floor(Math.min(at, text.length) / STRETCH);
    for (let known = ended.length - 1; known < stretch; known++)
      ended.push((ended[known] ?? 0) + countIn(text.slice(known * STRETCH, (known + 1) * STRETCH), '\n'));
    return 1 + (ended[stretch] ?? 0) + countIn(text.slice(stretch * STRETCH, at), '\n');
  };
}
