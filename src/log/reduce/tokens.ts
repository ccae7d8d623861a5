import { createRequire } from 'node:module';

interface Tokenizer {
  countTokens(text: string, options: { readonly disallowedSpecial: ReadonlySet<string> }): number;
}

/**
 * The maximum length of text that is tokenized at once. Byte-pair merging slows down on long runs without
 * word boundaries.
 */
const PIECE = 2_000;
/** The options to count special tokens such as `<|im_end|>` in a log as ordinary text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };
const BEYOND_ASCII = /[^\0-\x7f]/g;

const [FEED, RETURN, SPACE, APOSTROPHE, SLASH] = [10, 13, 32, 39, 47];
const [NOTHING, UPPER, LOWER, DIGIT, WHITE] = [0, 1, 2, 3, 4];
/** The kinds of ASCII characters that the pattern of o200k distinguishes. All others are punctuation. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 65 && code <= 90) return UPPER;
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 48 && code <= 57) return DIGIT;
  return code === SPACE || (code >= 9 && code <= 13) ? WHITE : NOTHING;
});

/** The maximum number of words whose token counts are cached, because words of logs are often repeated. */
const MAX_WORDS = 50_000;
const counts = new Map<string, number>();

let tokenizer: Tokenizer | undefined;

/**
 * Counts the tokens of a text in OpenAI's o200k encoding. A text over 2,000 characters is counted in pieces,
 * so the result may be slightly too high.
 */
export function countTokens(text: string): number {
  if (text.length <= PIECE) return countPiece(text);
  let tokens = 0;
  for (let start = 0; start < text.length; start += PIECE)
    tokens += countPiece(text.slice(start, start + PIECE));
  return tokens;
}

/**
 * Counts the tokens of a piece. No token extends over the end of text before a space, so words with non-ASCII
 * characters are cut out at spaces and counted by the encoding itself.
 */
function countPiece(text: string): number {
  let tokens = 0;
  let at = 0;
  for (BEYOND_ASCII.lastIndex = 0; ; BEYOND_ASCII.lastIndex = at) {
    const other = BEYOND_ASCII.exec(text);
    if (other === null) return tokens + countAscii(text, at, text.length);
    let from = other.index;
    let to = from + 1;
    while (from > at && !isWordEnd(text, from)) from--;
    while (to < text.length && !isWordEnd(text, to)) to++;
    tokens += countAscii(text, at, from) + countWord(text, from, to);
    at = to;
  }
}

function isWordEnd(text: string, at: number): boolean {
  const before = KINDS[text.charCodeAt(at - 1)] ?? NOTHING;
  return text.charCodeAt(at) === SPACE && before !== NOTHING && before !== WHITE;
}

/**
 * Counts the tokens of ASCII characters, split into words as the encoding's own pattern does. Bytes are only
 * merged within words, so the count of each word can be cached.
 */
function countAscii(text: string, from: number, to: number): number {
  let tokens = 0;
  for (let at = from; at < to; ) {
    const end = findWordEnd(text, at, to);
    tokens += end - at === 1 ? 1 : countWord(text, at, end);
    at = end;
  }
  return tokens;
}

function findWordEnd(text: string, at: number, to: number): number {
  const code = text.charCodeAt(at);
  const kind = KINDS[code] ?? NOTHING;
  if (kind === DIGIT) return findRunEnd(text, at, Math.min(to, at + 3), DIGIT);
  const next = at + 1 < to ? (KINDS[text.charCodeAt(at + 1)] ?? NOTHING) : WHITE;
  if (kind === UPPER || kind === LOWER) return findLettersEnd(text, at, to);
  const isBreak = code === FEED || code === RETURN;
  if ((next === UPPER || next === LOWER) && !isBreak) return findLettersEnd(text, at + 1, to);
  if (kind === NOTHING || (code === SPACE && next === NOTHING))
    return findPunctuationEnd(text, at + (code === SPACE ? 1 : 0), to);
  return findWhiteEnd(text, at, to);
}

function findRunEnd(text: string, at: number, to: number, kind: number): number {
  let end = at;
  while (end < to && KINDS[text.charCodeAt(end)] === kind) end++;
  return end;
}

/**
 * Returns the end of a run of letters: capitals, the lower-case letters after them, and a contraction such
 * as `'s` or `'ll`.
 */
function findLettersEnd(text: string, at: number, to: number): number {
  const end = findRunEnd(text, findRunEnd(text, at, to, UPPER), to, LOWER);
  if (end >= to || text.charCodeAt(end) !== APOSTROPHE) return end;
  const short = text.slice(end + 1, Math.min(to, end + 3)).toLowerCase();
  if (/^[sdmt]/.test(short)) return end + 2;
  return short === 'll' || short === 've' || short === 're' ? end + 3 : end;
}

function findPunctuationEnd(text: string, at: number, to: number): number {
  let end = findRunEnd(text, at, to, NOTHING);
  for (
    let code = text.charCodeAt(end);
    end < to && (code === FEED || code === RETURN || code === SLASH);
    code = text.charCodeAt(++end)
  );
  return end;
}

/**
 * Returns the end of white space: after its last line break, or, if it has none and text follows, before its
 * last character, which belongs to that text.
 */
function findWhiteEnd(text: string, at: number, to: number): number {
  const end = findRunEnd(text, at, to, WHITE);
  for (let last = end - 1; last >= at; last--) {
    const code = text.charCodeAt(last);
    if (code === FEED || code === RETURN) return last + 1;
  }
  return end === to || end === at + 1 ? end : end - 1;
}

function countWord(text: string, from: number, to: number): number {
  const word = text.slice(from, to);
  const known = counts.get(word);
  if (known !== undefined) return known;
  tokenizer ??= createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as Tokenizer;
  const tokens = tokenizer.countTokens(word, AS_TEXT);
  if (counts.size >= MAX_WORDS) counts.clear();
  counts.set(word, tokens);
  return tokens;
}
