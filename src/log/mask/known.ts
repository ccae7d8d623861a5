import { append } from '../../lib/lists.ts';
import type { Span } from './span.ts';

/** Finds known secrets in a text, in every spelling, whole, cut short, or broken over lines. */
export type FindKnown = (text: string) => Span[];

/** Most secrets of one run that are looked for everywhere; a hostile log could "show" any number. */
export const MAX_SECRETS = 1_000;
/** Longest stretch of a secret that is searched; the rest of a longer one is found beside it. */
const MAX_LITERAL = 64;
/** From this length on, a secret that lost up to two characters at an end is found too. */
const TRIMMED_FROM = 14;
const TRIM = 2;
/** Characters at a line's end by which a broken secret is recognised. */
const GRAM = 3;
/** Most lines that one secret may be broken over. */
const MAX_BREAKS = 60;
/** Longest part of a secret on the line where it begins, and most places remembered, altogether and for one gram. */
const MAX_FIRST_PART = 400;
const MAX_PLACES = 300_000;
const MAX_ALIKE = 8;
/** What may stand at the start of a continued line: white space, a time, a runner's name. */
const PREFIX = /^(?:\[[^\]]{0,60}\]\s?|\d{4}-\d\d-\d\d[T ][\d:.,]{5,20}Z?\s?|\d\d:\d\d:\d\d[.,\d]{0,7}\s?|[>|]\s?|\s){0,12}/;

/** Null where there is nothing to look for. */
export function createKnownFinder(secrets: Iterable<string>): FindKnown | null {
  const forms = [...new Set(secrets)].slice(0, MAX_SECRETS).flatMap(formsOf);
  if (forms.length === 0) return null;
  const cores = forms.map(({ text }) => {
    const trim = text.length >= TRIMMED_FROM ? TRIM : 0;
    return { trim, literal: text.slice(trim, Math.min(text.length - trim, trim + MAX_LITERAL)) };
  });
  const find = createFinder(cores.map(({ literal }) => literal));
  const grams = gramsOf(forms);
  return (text) => {
    const spans: Span[] = [];
    const hiddenTo = new Map<number, number>();
    find(text, (id, from) => {
      const [form, core] = [forms[id], cores[id]];
      // A secret that repeats itself is found at each place in what is hidden already.
      if (form === undefined || core === undefined || from + core.literal.length <= (hiddenTo.get(id) ?? 0)) return;
      const span = grown(text, from, core.trim, form);
      hiddenTo.set(id, span.to);
      spans.push(span);
    });
    findBroken(text, forms, grams, spans);
    return spans;
  };
}

/** As far to both sides as the text agrees with the form. */
function grown(text: string, at: number, trim: number, form: Form): Span {
  let from = at;
  let start = trim;
  while (start > 0 && text[from - 1] === form.text[start - 1]) {
    from--;
    start--;
  }
  let to = at;
  let index = trim;
  while (index < form.text.length && text[to] === form.text[index]) {
    to++;
    index++;
  }
  if (start === 0) for (let n = 0; n < form.before && isBase64(text, from - 1); n++) from--;
  if (index === form.text.length) for (let n = 0; n < form.after && isBase64(text, to); n++) to++;
  return { from, to };
}

function isBase64(text: string, at: number): boolean {
  return /[A-Za-z0-9+/_-]/.test(text[at] ?? '');
}

type Grams = ReadonlyMap<string, readonly (readonly [form: number, end: number])[]>;

/** Where a form may be broken: each three characters in it, with the place after them. */
function gramsOf(forms: readonly Form[]): Grams {
  const grams = new Map<string, [number, number][]>();
  let count = 0;
  for (const [id, { text }] of forms.entries()) {
    const last = Math.min(text.length - GRAM, MAX_FIRST_PART);
    for (let end = GRAM; end <= last && count < MAX_PLACES; end++) {
      const gram = text.slice(end - GRAM, end);
      const places = grams.get(gram);
      if (places === undefined) grams.set(gram, [[id, end]]);
      else if (places.length < MAX_ALIKE) places.push([id, end]);
      else continue;
      count++;
    }
  }
  return grams;
}

/** Forms that begin at the end of one line and go on at the start of the next. */
function findBroken(text: string, forms: readonly Form[], grams: Grams, spans: Span[]): void {
  for (let lineEnd = text.indexOf('\n'); lineEnd !== -1; lineEnd = text.indexOf('\n', lineEnd + 1)) {
    const end = text.charCodeAt(lineEnd - 1) === 13 ? lineEnd - 1 : lineEnd;
    for (const [id, at] of grams.get(text.slice(Math.max(0, end - GRAM), end)) ?? []) {
      const form = forms[id]?.text ?? '';
      if (end >= at && text.startsWith(form.slice(0, at), end - at)) append(spans, followBreak(text, form, at, end, lineEnd));
    }
  }
}

function followBreak(text: string, form: string, at: number, end: number, lineEnd: number): Span[] {
  const spans: Span[] = [{ from: end - at, to: end }];
  let known = at;
  let next = lineEnd + 1;
  for (let line = 0; line < MAX_BREAKS && known < form.length; line++) {
    const from = next + (PREFIX.exec(text.slice(next, next + 200))?.[0].length ?? 0);
    let to = from;
    while (known < form.length && to < text.length && text[to] === form[known]) {
      to++;
      known++;
    }
    if (to === from) return [];
    spans.push({ from, to });
    if (known < form.length && text[to] !== '\n' && text[to] !== '\r') return [];
    next = to + (text[to] === '\r' ? 2 : 1);
  }
  return known === form.length && form.length >= MIN_FORM ? spans : [];
}

/** A spelling of a secret to look for. */
interface Form {
  readonly text: string;
  /** Characters before and after that also hold bits of the secret, as base64 leaves them. */
  readonly before: number;
  readonly after: number;
}

/** No shorter spelling is looked for: it would stand in other words. */
export const MIN_FORM = 8;

/**
 * All spellings of a secret in which logs show it: itself, base64 and base64url at each of the three places it can have in a
 * longer text, hex, URL-encoded, and escaped for JSON and for XML.
 */
function formsOf(secret: string): Form[] {
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const plain = [secret, hex, hex.toUpperCase(), ...urlEncoded(secret), JSON.stringify(secret).slice(1, -1), forXml(secret)];
  const forms = plain.map((text) => ({ text, before: 0, after: 0 })).concat([0, 1, 2].flatMap((place) => inBase64(bytes, place)));
  const seen = new Set<string>();
  return forms.filter(({ text }) => text.length >= MIN_FORM && !seen.has(text) && seen.add(text) !== undefined);
}

/** The characters that this secret alone decides, and at each end one that it shares with what stands beside it. */
function inBase64(bytes: Buffer, place: number): Form[] {
  const whole = Buffer.concat([Buffer.alloc(place), bytes])
    .toString('base64')
    .replace(/={1,2}$/, '');
  const from = Math.ceil((place * 8) / 6);
  const to = Math.floor(((place + bytes.length) * 8) / 6);
  const text = whole.slice(from, to);
  const [before, after] = [place === 0 ? 0 : 1, whole.length > to ? 1 : 0];
  const safe = text.replaceAll('+', '-').replaceAll('/', '_');
  return [text, safe].map((one) => ({ text: one, before, after }));
}

function urlEncoded(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed());
  const strict = encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const lower = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [encoded, strict, lower(encoded), lower(strict), strict.replaceAll('%20', '+')];
}

function forXml(secret: string): string {
  return secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;');
}

/** Tells of each place in a text where one of the literals stands, in order; places may overlap. */
type FindLiterals = (text: string, found: (literal: number, from: number) => void) => void;

const TABLE = 1 << 16;

/**
 * Looks for any number of literals at once, each at least two characters, exactly as written. Wu and Manber's method ("A
 * fast algorithm for multi-pattern searching", 1994) over blocks of two characters: most of a text is skipped.
 */
function createFinder(literals: readonly string[]): FindLiterals {
  const shortest = literals.reduce((least, { length }) => Math.min(least, length), 255);
  const shifts = new Uint8Array(TABLE).fill(shortest - 1);
  const buckets = new Map<number, number[]>();
  for (const [id, literal] of literals.entries()) {
    for (let end = 1; end < shortest; end++) {
      const block = blockAt(literal, end);
      shifts[block] = Math.min(shifts[block] ?? 0, shortest - 1 - end);
      if (end === shortest - 1) buckets.set(block, [...(buckets.get(block) ?? []), id]);
    }
  }
  return (text, found) => {
    if (literals.length === 0) return;
    for (let end = shortest - 1; end < text.length; ) {
      const block = blockAt(text, end);
      const shift = shifts[block] ?? 0;
      if (shift > 0) {
        end += shift;
        continue;
      }
      const from = end - shortest + 1;
      for (const id of buckets.get(block) ?? []) if (text.startsWith(literals[id] ?? '', from)) found(id, from);
      end++;
    }
  };
}

/** Two characters as a place in the table; places may be shared, since each hit is compared. */
function blockAt(text: string, end: number): number {
  return ((text.charCodeAt(end - 1) * 251) ^ text.charCodeAt(end)) & (TABLE - 1);
}
