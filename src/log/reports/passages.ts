import { stripEscapes } from '../lines/clean.ts';
import { createLineCounter } from './line-counter.ts';

/** The notation in which a stretch of a report writes its characters. */
export type Writing = 'xml' | 'json' | 'plain';

/**
 * A stretch of a report's text that belongs to one test: a name, a message, a trace, output. Offsets in
 * characters; `end` is exclusive.
 */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly writing: Writing;
}

/**
 * The text of one line of a report about one test, as a person reads it: entities and escapes are decoded.
 * `line` is 1-based.
 */
export interface PassageLine {
  readonly line: number;
  readonly text: string;
}

/**
 * The text of a report about one failing test: lines ascend, each once. Blank ones occur only between others.
 */
export type Passage = readonly PassageLine[];

/**
 * Stands for a line break that a stored line writes as an entity or an escape, and for what lies between two
 * stretches of a line.
 */
export const BREAK = ' ↵ ';

/** Lines and characters of one passage at most, and of one of its stretches. */
const MAX_LINES = 80;
const MAX_STRETCH_LINES = 60;
const MAX_LINE = 1_000;
const MAX_STRETCH = 20_000;

/**
 * Reads passages of one report. Whatever the order in which they are asked for, its lines are counted once.
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

/**
 * Adds the lines of a text that stands on one stored line; what that line has said already is not said again.
 */
function addParts(lines: Map<number, string[]>, line: number, text: string): void {
  const parts = text
    .split('\n')
    .map((part) => part.trimEnd())
    .filter((part) => part !== '');
  const known = lines.get(line) ?? [];
  lines.set(line, [...known, ...parts.filter((part) => !known.includes(part))]);
}

/** Shows a report's stored line as a person reads it, whatever its format. */
export function showReadableLine(stored: string): string {
  const writing = /[<>]|&\w{2,6};/.test(stored)
    ? 'xml'
    : /^\s{0,1000}[{[\]}"]/.test(stored)
      ? 'json'
      : 'plain';
  return decodeReadableText(stored, writing).replaceAll('\n', BREAK);
}

/** Tells whether a report's stored line holds the quoted words, as it is written or as a person reads it. */
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
 * Decodes what is written in a report's own way: XML's entities, character references and CDATA marks, JSON's
 * escapes.
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
