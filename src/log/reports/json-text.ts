import { countIn } from '../../lib/text.ts';
import type { Stretch } from './passages.ts';

/** The maximum number of characters after the last string found in which the next one is searched for. */
const MAX_AHEAD = 8_000_000;
/** The maximum distance in characters between the strings of one test: its name, its message, its trace. */
const MAX_APART = 200_000;
/** The maximum number of searches in one text. */
const MAX_SEARCHES = 5_000;
/** The number of failed searches after which no more are made. */
const MAX_MISSES = 10;

/** A search for values in a JSON text, whichever escapes it uses. */
export interface StringSearch {
  /**
   * Finds the first occurrence of each text after the last one found. Leaves out texts that are not found.
   * Returns nothing after too many searches.
   */
  find(texts: readonly string[]): Stretch[];
}

/** Creates a search. Texts that do not follow the last one found are searched for from the beginning. */
export function createStringSearch(json: string): StringSearch {
  let [from, searches, misses] = [0, 0, 0];
  return {
    find(texts) {
      const wanted = texts.filter((text) => text !== '');
      if (wanted.length === 0 || misses > MAX_MISSES || ++searches > MAX_SEARCHES) return [];
      const found = findValues(json, from, wanted);
      const again = found.length === 0 && from > 0 ? findValues(json, 0, wanted) : found;
      if (again.length === 0) misses++;
      for (const { end } of again) from = Math.max(from, end + 1);
      return again;
    },
  };
}

/**
 * Finds the strings of a JSON text that have the wanted values, except property names. Returns their places
 * in the order of `wanted`.
 */
function findValues(json: string, from: number, wanted: readonly string[]): Stretch[] {
  const left = new Set(wanted);
  const found = new Map<string, Stretch>();
  let last = Math.min(json.length, from + MAX_AHEAD);
  for (let at = json.indexOf('"', from); at !== -1 && at < last && left.size > 0; ) {
    const end = findStringEnd(json, at);
    if (end === -1) break;
    for (const text of left) {
      if (json[end + 1] === ':' || !isWritten(json, at + 1, end, text)) continue;
      found.set(text, { start: at + 1, end, writing: 'json' });
      left.delete(text);
      last = Math.min(last, end + MAX_APART);
    }
    at = json.indexOf('"', end + 1);
  }
  return wanted.flatMap((text) => found.get(text) ?? []);
}

/** Returns the end of the string that begins with the quotation mark at `start`, or -1 if it has none. */
function findStringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

/** Tells whether the string from `start` to `end` has this value. */
function isWritten(json: string, start: number, end: number, text: string): boolean {
  const length = end - start;
  if (length === text.length) return json.startsWith(text, start);
  // An escape has at most six characters.
  if (length < text.length || length > text.length * 6) return false;
  try {
    return JSON.parse(json.slice(start - 1, end + 1)) === text;
  } catch {
    return false;
  }
}

/** The value of a damaged JSON text, and a clause for people that describes the damage. */
export interface RepairedJson {
  readonly value: unknown;
  readonly damage: string;
}

const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f]/g;

/**
 * Parses a damaged JSON text. Forbidden control characters become spaces. Of a truncated text, the complete
 * objects and lists are kept. Returns null for any other text.
 */
export function repairJson(json: string): RepairedJson | null {
  if (!/^[\ufeff\s]{0,1000}[{[]/.test(json)) return null;
  const first = json.search(CONTROLS);
  const plain = (first === -1 ? json : json.replace(CONTROLS, ' ')).replace(/^\ufeff/, '');
  const findLineNumber = (at: number) => countIn(json.slice(0, at), '\n') + 1;
  const whole = first === -1 ? undefined : parse(plain);
  if (whole !== undefined)
    return {
      value: whole,
      damage: `it holds control characters, the first on line ${findLineNumber(first)}`,
    };
  const cut = findLastComplete(plain);
  const value = cut === null ? undefined : parse(plain.slice(0, cut.end) + cut.closers);
  return cut === null || value === undefined
    ? null
    : { value, damage: `it breaks off after line ${findLineNumber(cut.end)}` };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Finds the end of the last complete object or list in a truncated text, and the brackets that close those
 * around it. Returns null if the text is not truncated.
 */
function findLastComplete(json: string): { readonly end: number; readonly closers: string } | null {
  const MARKS = /["{}[\]]/g;
  const open: string[] = [];
  let cut: { end: number; closers: string } | null = null;
  for (let mark = MARKS.exec(json); mark !== null; mark = MARKS.exec(json)) {
    const [sign] = mark;
    if (sign === '"') {
      const end = findStringEnd(json, mark.index);
      if (end === -1) break;
      MARKS.lastIndex = end + 1;
    } else if (sign === '{' || sign === '[') open.push(sign === '{' ? '}' : ']');
    else if (open.pop() !== sign || open.length === 0) return null;
    else cut = { end: mark.index + 1, closers: open.toReversed().join('') };
  }
  return cut;
}
