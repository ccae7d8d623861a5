import { stripEscapes } from '../lines/clean.ts';
import { createLineCounter } from './line-counter.ts';

/** The notation in which a part of a report is written. */
export type Writing = 'xml' | 'json' | 'plain';

/**
 * A part of a report's text that belongs to one test: a name, a message, a trace, output. Offsets are in
 * characters; `end` is exclusive.
 */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly writing: Writing;
}

/** The text of one line of a report about one test, with entities and escapes decoded. `line` is 1-based. */
export interface PassageLine {
  readonly line: number;
  readonly text: string;
}

/**
 * The text of a report about one failing test. Each line occurs once, ascending. Blank lines occur only
 * between others.
 */
export type Passage = readonly PassageLine[];

/**
 * The sign for a line break that a stored line contains as an entity or escape, and for omitted text between
 * two parts of a line.
 */
export const BREAK = ' ↵ ';

/**
 * The maximum number of lines of a passage and of each of its parts, and the maximum number of characters of
 * a line and of a part.
 */
const MAX_LINES = 80;
const MAX_STRETCH_LINES = 60;
const MAX_LINE = 1_000;
const MAX_STRETCH = 20_000;

/**
 * Creates a function that reads passages of one report. The report's lines are counted only once, in
 * whichever order passages are requested.
 */
export function createPassageReader(text: string): (stretches: readonly Stretch[]) => Passage {
  const lineAt = createLineCounter(text);
  return (stretches) => {
    const lines = new Map<number, string[]>();
    for (const { start, end, writing } of stretches) {
      const first = lineAt(start);
      const raw = text.slice(start, Math.min(end, start + MAX_STRETCH)).split('\n', MAX_STRETCH_LINES);
      for (const [at, part] of raw.entries()) {
        if (!lines.has(first + at) && lines.size >= MAX_LINES) break;
        addParts(lines, first + at, decodeReadableText(part, writing));
      }
    }
    const passage = [...lines].map(([line, parts]) => ({ line, text: parts.join(BREAK).slice(0, MAX_LINE) }));
    passage.sort((left, right) => left.line - right.line);
    while (passage.at(-1)?.text === '') passage.pop();
    return passage.slice(
      Math.max(
        0,
        passage.findIndex(({ text: line }) => line !== ''),
      ),
    );
  };
}

/** Adds the lines of a text that is on one stored line, except those that the line already has. */
function addParts(lines: Map<number, string[]>, line: number, text: string): void {
  const parts = text
    .split('\n')
    .map((part) => part.trimEnd())
    .filter((part) => part !== '');
  const known = lines.get(line) ?? [];
  lines.set(line, [...known, ...parts.filter((part) => !known.includes(part))]);
}

/** Decodes a stored line of a report, whichever its format. */
export function showReadableLine(stored: string): string {
  const writing = /[<>]|&\w{2,6};/.test(stored)
    ? 'xml'
    : /^\s{0,1000}[{[\]}"]/.test(stored)
      ? 'json'
      : 'plain';
  return decodeReadableText(stored, writing).replaceAll('\n', BREAK);
}

/** Tells whether a stored line of a report contains the quoted words, as stored or decoded. */
export function holdsReadable(
  stored: string,
  quote: string,
  holds: (line: string, words: string) => boolean,
): boolean {
  const readings = [stored, decodeReadableText(stored, 'xml'), decodeReadableText(stored, 'json')];
  return [...readings, ...readings.map(stripEscapes)].some((reading) => {
    const line = reading.replaceAll('\n', BREAK);
    return holds(line, quote) || quote.split(BREAK).every((part) => holds(line, part));
  });
}

/**
 * Decodes the escapes of a notation: entities, character references and CDATA delimiters of XML, or escapes
 * of JSON.
 */
function decodeReadableText(raw: string, writing: Writing): string {
  if (writing === 'xml')
    return raw.includes('&') || raw.includes(']]>') || raw.includes('<![CDATA[') ? decodeXml(raw) : raw;
  if (writing === 'json') return raw.includes('\\') ? raw.replace(JSON_ESCAPE, decodeEscape) : raw;
  return raw;
}

const XML_ESCAPE =
  /<!\[CDATA\[|\]\]>|&(?:(?<name>amp|lt|gt|quot|apos)|#(?:(?<decimal>\d{1,7})|x(?<hex>[\da-f]{1,6})));/gi;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Decodes the entities of XML. Text in CDATA has none. */
function decodeXml(raw: string): string {
  let isLiteral = false;
  return raw.replace(XML_ESCAPE, (...match) => {
    const whole: string = match[0];
    if (whole === '<![CDATA[' || whole === ']]>') {
      isLiteral = whole !== ']]>';
      return '';
    }
    const { name, decimal, hex } = match.at(-1) as Readonly<Record<string, string | undefined>>;
    if (isLiteral) return whole;
    return name === undefined
      ? toCharacter(Number.parseInt(hex ?? decimal ?? '', hex === undefined ? 10 : 16))
      : (NAMED[name] ?? whole);
  });
}

function toCharacter(code: number): string {
  return code > 0 && code !== 13 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

const JSON_ESCAPE = /\\(?:u([\da-f]{4})|([\s\S]))/gi;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '', b: '', f: '' };

function decodeEscape(_: string, code: string | undefined, letter: string | undefined): string {
  return code === undefined
    ? (ESCAPED[letter ?? ''] ?? letter ?? '')
    : String.fromCharCode(Number.parseInt(code, 16));
}
