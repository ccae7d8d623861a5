import { createRequire } from 'node:module';

interface Tokenizer {
  countTokens(text: string, options: { readonly disallowedSpecial: ReadonlySet<string> }): number;
}

/** Byte-pair merging slows down on long runs without a word boundary; pieces of this length keep it linear. */
const PIECE = 2_000;
/** A log may spell out a special token such as `<|im_end|>`; here it is text like any other. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

let tokenizer: Tokenizer | undefined;

/** Tokens of a text in OpenAI's o200k encoding. Texts over 2,000 characters are counted in pieces, which may count a few too many. */
export function countTokens(text: string): number {
  tokenizer ??= createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as Tokenizer;
  if (text.length <= PIECE) return tokenizer.countTokens(text, AS_TEXT);
  let tokens = 0;
  for (let start = 0; start < text.length; start += PIECE) tokens += tokenizer.countTokens(text.slice(start, start + PIECE), AS_TEXT);
  return tokens;
}
