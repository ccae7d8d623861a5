import { findFirstPlace, growCapacity } from '../../lib/collections.ts';

/**
 * A part of a text to hide: from (inclusive) to (exclusive), in UTF-16 code units unless bytes are mentioned.
 * Never contains a line end.
 */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A masked text, and the number of hidden places. */
export interface Masked {
  readonly text: string;
  readonly count: number;
  /**
   * The SHA-256, in hexadecimal, of the own secrets and of texts in the form of access tokens that were
   * hidden. Absent if there were none.
   */
  readonly own?: readonly string[];
}

/** The replacement of a secret. GitHub and GitLab use the same. */
const HIDDEN = '***';

const COLOR = /\u001b\[[\d;]{0,20}[A-Za-z]/g;

/**
 * Replaces color codes by spaces, because the letter that ends a code is not part of the following token.
 * Positions do not change.
 */
export function withoutColors(text: string): string {
  return text.includes('\u001b[') ? text.replace(COLOR, (color) => ' '.repeat(color.length)) : text;
}

/** Sorts spans and merges those that overlap or touch. Empty spans are dropped. */
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

/** Replaces each of the merged spans in the text. */
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

/** A compact list of merged spans, ascending. */
export class SpanList {
  count = 0;
  #ends = new Uint32Array(16);

  add(from: number, to: number): void {
    if (this.count * 2 === this.#ends.length) this.#ends = growCapacity(this.#ends);
    this.#ends.set([from, to], 2 * this.count++);
  }

  /**
   * Returns the spans between `start` and `end`, relative to `start`. A span across a border is cut there.
   */
  overlapping(start: number, end: number): Span[] {
    const first = findFirstPlace(this.count, (place) => (this.#ends[2 * place + 1] ?? 0) <= start);
    const spans: Span[] = [];
    for (let at = 2 * first; at < 2 * this.count && (this.#ends[at] ?? end) < end; at += 2)
      spans.push({
        from: Math.max(0, (this.#ends[at] ?? 0) - start),
        to: Math.min(end, this.#ends[at + 1] ?? 0) - start,
      });
    return spans;
  }
}

/** The maximum number of characters of a value that are examined. */
const JUDGED = 256;

const PLACEHOLDER = new RegExp(
  String.raw`^\*{3}|\*{3}$|^[$%<{]|^(?:null|nil|none|true|false|yes|no|undefined|redacted|removed|` +
    String.raw`hidden|filtered|masked|secret|password|changeme|x{3,}|\.{3}|process\.env|secrets?\.|` +
    String.raw`env\.|vault:|op://|arn:aws:)(?![A-Za-z0-9])|^\[[a-z ]{2,24}\]|^\w{1,60}\(`,
  'i',
);
/** Values that are not secret: paths, versions, times, digests and plain numbers. */
const NO_SECRET = new RegExp(
  String.raw`^[./~]|\.\.|^[A-Za-z]:[\\/]|^v?\d[\d.:T+-]*Z?$|^(?:sha\d{1,3}|md5|` +
    String.raw`blake\w{1,4})[:=-]|^https?:|^(?:jar|pom|war|aar):\d`,
  'i',
);
const VERSION = /^[v^~]?\d+\.\d+(?:\.\d+)?(?:[-+.][\w.](?:[-+]?[\w.])*)?$/;
const FILE_NAME = /\.[A-Za-z][A-Za-z0-9]{0,4}$/;

/**
 * Checks whether a value only stands for a secret: a variable, a call, a term for "nothing", or masked text.
 */
export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value.slice(0, JUDGED)) || value.endsWith('***');
}

/**
 * Checks whether a value looks like a secret: letters and digits mixed, at least 8 characters, at least 2.8
 * bits of entropy per character, and not made of words and small numbers as paths, versions, times and file
 * names are.
 */
export function looksSecret(value: string): boolean {
  const judged = value.slice(0, JUDGED);
  if (value.length < 8 || /\s/.test(judged)) return false;
  if ((NO_SECRET.test(judged) && !isLongBase64(judged)) || !/\d/.test(judged) || !/[A-Za-z]/.test(judged))
    return false;
  if (VERSION.test(judged) && !/[a-z]\d[a-z]\d|[A-Z]/.test(judged)) return false;
  if (FILE_NAME.test(judged) && !isMixed(judged)) return false;
  return !isNamed(judged) && computeEntropy(judged) >= 2.8;
}

/**
 * Checks whether a value looks like a random key of at least 20 characters: no words between separators, and
 * either long hexadecimal digits or letters of both cases and digits.
 */
export function looksRandom(value: string): boolean {
  return (
    value.length >= 20 &&
    /^[\w+/=.~-]+$/.test(value) &&
    looksSecret(value) &&
    isMixed(value) &&
    computeEntropy(value) >= 3.8
  );
}

/**
 * Checks whether it is safe to hide a secret wherever it occurs: it has at least 8 characters, and is not
 * also an ordinary word or a name.
 */
export function isDistinctive(secret: string): boolean {
  if (secret.length < 8 || isPlaceholder(secret) || /\s/.test(secret.trim())) return false;
  if (!/\d/.test(secret))
    return secret.length >= 16 && isMixedCase(secret) && !isNamed(secret) && computeEntropy(secret) >= 3.5;
  if (!/[A-Za-z]/.test(secret)) return secret.length >= 14 && computeEntropy(secret) >= 2.8;
  return !isNamed(secret) && !FILE_NAME.test(secret.slice(-8)) && computeEntropy(secret) >= 2.5;
}

/** Computes the entropy of the first 256 characters, in bits per character. */
export function computeEntropy(value: string): number {
  const counts = new Map<string, number>();
  const judged = value.slice(0, JUDGED);
  for (const char of judged) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / judged.length) * Math.log2(count / judged.length);
  return bits;
}

/**
 * Checks whether a value is a long base64 key that looks like a path, because it begins with a slash or ends
 * in dots. Three in a hundred keys do.
 */
function isLongBase64(value: string): boolean {
  return /^\/[A-Za-z0-9+/]{38,}={0,2}$/.test(value) && isMixed(value) && computeEntropy(value) >= 4.3;
}

/**
 * Checks whether a value consists of words and small numbers with separators between them:
 * `deploy-preview-12`, `linux_x64_3`, `org.example.TokenStore`.
 */
function isNamed(value: string): boolean {
  const parts = value.split(/[-_./:@#$]+/);
  const isPath = parts.length > 3 || /^(?:com|org|net|io)\./.test(value);
  return (
    parts.length > 1 &&
    parts.every((part) => WORD.test(part) || (isPath && /^[A-Za-z]{0,60}\d{0,2}$/.test(part)))
  );
}

const WORD = /^(?:[a-z]{0,24}\d{0,3}|[A-Z]{0,24}\d{0,3}|[A-Z]?[a-z]{1,24}|v?\d{1,5})$/;

function isMixed(value: string): boolean {
  return /\d/.test(value) && isMixedCase(value);
}

function isMixedCase(value: string): boolean {
  return /[a-z]/.test(value) && /[A-Z]/.test(value);
}
