import { append } from './collections.ts';

/** Cuts a text after `most` characters (UTF-16 units) and appends `…` if it was longer. */
export function cutAfter(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

/**
 * Cuts a text to at most `most` characters with `…`. Cuts between two words if that loses less than half of
 * it.
 */
export function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  const space = cut.lastIndexOf(' ');
  return `${(space > most / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`;
}

/** Cuts a text in the same way, but counts the `…` toward `most`. */
export function cutWithin(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/**
 * Cuts a text in the same way, but counts code points, which are closer to what people regard as characters.
 */
export function cutCharacters(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** Formats a count with its noun: "1 line", "311,101 lines". `many` is an irregular plural. */
export function formatCount(count: number, singular: string, many = `${singular}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? singular : many}`;
}

/** Formats a confidence from 0 to 1 in whole percent, rounded down: 0.969 is "96 %". */
export function formatConfidence(confidence: number): string {
  return `${toWholePercent(confidence)} %`;
}

/** Rounds a confidence from 0 to 1 down to hundredths, as `formatConfidence` shows it. */
export function roundConfidence(confidence: number): number {
  return toWholePercent(confidence) / 100;
}

/** Rounds down to whole percent. The tolerance is for 0.29 * 100, which is 28.999999999999996. */
function toWholePercent(confidence: number): number {
  return Math.floor(confidence * 100 + 1e-9);
}

/** Replaces an invisible character by its code point: ⟦U+001B⟧. */
export function spellCharacter(character: string): string {
  return `⟦U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟧`;
}

/** Splits a comma-separated list, trims the entries and removes empty ones. */
export function splitList(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

/**
 * Returns the text with a final period, unless it already ends like a sentence, because more text follows it.
 */
export function toSentence(text: string): string {
  const whole = text.trimEnd();
  return whole === '' || /[.!?…]["'”’)\]`]?$/.test(whole) ? whole : `${whole}.`;
}

/** Returns the text with its first letter in upper case, unless it begins with a path or an address. */
export function startUpper(text: string): string {
  const [first = ''] = text.split(/\s/, 1);
  return /[./@_\d]|[a-z][A-Z]/.test(first.replace(/[.,:;]$/, ''))
    ? text
    : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** The content of a cell; null is an empty cell. */
export type Cell = string | number | null;

/**
 * Formats rows as CSV (RFC 4180): a comma between cells, CRLF after each row, quotes if they are needed.
 * Texts that a spreadsheet would read as a formula get an apostrophe in front.
 */
export function toCsv(heading: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [heading, ...rows].map((row) => `${row.map(formatCell).join(',')}\r\n`).join('');
}

function formatCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A file that a text names. */
interface NamedPath {
  readonly path: string;
  /** The line number. Null if the text names none. */
  readonly line: number | null;
}

/** The maximum number of words that are read. */
const MAX_WORDS = 20_000;
const MAX_PATH = 300;
const BETWEEN_WORDS = /[\s"'`()<>[\]{},;=|]+/;

/**
 * The endings of files that people write. The `.com` of a host and the `.0` of a version are not among them.
 */
const ENDINGS: ReadonlySet<string> = new Set(
  (
    'c cc cpp cxx h hh hpp hxx m mm cs fs vb go rs java kt kts groovy scala clj py pyx rb php pl pm ' +
    'lua r jl hs ml ex exs erl dart swift zig ' +
    'js jsx mjs cjs ts tsx mts cts vue svelte css scss less html sh bash ps1 sql proto tf yml yaml ' +
    'toml json xml gradle cmake'
  ).split(' '),
);

/**
 * Lists the files that the texts mention, in order and with repetitions: "src/cart.ts:12:5" is src/cart.ts,
 * line 12.
 */
export function listNamedPaths(texts: readonly string[]): NamedPath[] {
  const words: string[] = [];
  // Words beyond the limit are not split.
  for (const text of texts) append(words, text.split(BETWEEN_WORDS, MAX_WORDS - words.length));
  return words.flatMap((word) => parsePath(word) ?? []);
}

function parsePath(word: string): NamedPath | null {
  if (word.length > MAX_PATH || word.includes('://')) return null;
  const [path = '', line = ''] = word.split(':');
  const dot = path.lastIndexOf('.');
  if (dot < 1 || path[dot - 1] === '/' || !ENDINGS.has(path.slice(dot + 1).toLowerCase())) return null;
  const number = Number(line);
  return { path, line: Number.isSafeInteger(number) && number > 0 ? number : null };
}

/** Counts the non-overlapping occurrences of a text in another. */
export function countIn(text: string, wanted: string): number {
  let count = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) count++;
  return count;
}

/** Parses a text as JSON; returns undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Checks whether a version such as "6.2.14" is older than another, by its first two numbers. False if the
 * text is not a version.
 */
export function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [own = Number.NaN, next = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return own < major || (own === major && next < minor);
}

/** Replaces NUL and lone surrogates with U+FFFD, as databases require. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Escapes a text so that a pattern matches it literally. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
