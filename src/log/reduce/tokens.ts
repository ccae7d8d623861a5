import { createRequire } from 'node:module';

interface Tokenizer {
  countTokens(text: string, options: { readonly disallowedSpecial: ReadonlySet<string> }): number;
}

/** Byte-pair merging slows down on long runs without a word boundary; pieces of this length keep it linear. */
const PIECE = 2_000;
/** A log may spell out a special token such as `<|im_end|>`; here it is text like any other. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * How o200k cuts a text of ASCII characters into words before it merges bytes, after the encoding's own pattern. Without Unicode classes it
 * is many times as fast, and no token ever reaches over a cut, so that the tokens of each word can be remembered.
 */
const ASCII_WORDS =
  /[^\r\nA-Za-z0-9]?(?:[A-Z]*[a-z]+|[A-Z]+)(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?|[0-9]{1,3}| ?[^\sA-Za-z0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+/g;
const ASCII_ONLY = /^[\0-\x7f]*$/;
/** Words remembered; logs repeat theirs. */
const MAX_WORDS = 50_000;

let tokenizer: Tokenizer | undefined;
let known = new Map<string, number>();

/** Tokens of a text in OpenAI's o200k encoding. Texts over 2,000 characters are counted in pieces, which may count a few too many. */
export function countTokens(text: string): number {
  if (text.length <= PIECE) return countPiece(text);
  let tokens = 0;
  for (let start = 0; start < text.length; start += PIECE) tokens += countPiece(text.slice(start, start + PIECE));
  return tokens;
}

function countPiece(text: string): number {
  if (!ASCII_ONLY.test(text)) return encoded(text);
  let tokens = 0;
  ASCII_WORDS.lastIndex = 0;
  for (let match = ASCII_WORDS.exec(text); match !== null; match = ASCII_WORDS.exec(text)) tokens += countWord(match[0]);
  return tokens;
}

function countWord(word: string): number {
  if (word.length === 1) return 1;
  let tokens = known.get(word);
  if (tokens === undefined) {
    tokens = encoded(word);
    if (known.size >= MAX_WORDS) known = new Map();
    known.set(word, tokens);
  }
  return tokens;
}

function encoded(text: string): number {
  tokenizer ??= createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as Tokenizer;
  return tokenizer.countTokens(text, AS_TEXT);
}
