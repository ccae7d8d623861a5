import { countTokens } from '../../log/reduce/tokens.ts';

const PIECE = 4_000;
const PIECES = 24;

/** Tokens of a text: exact up to 96,000 characters, beyond that from 24 pieces spread evenly over it. The same text, the same number. */
export function estimateTokens(text: string): number {
  if (text.length <= PIECE * PIECES) return countTokens(text);
  const stride = (text.length - PIECE) / (PIECES - 1);
  let tokens = 0;
  for (let piece = 0; piece < PIECES; piece++) {
    const start = Math.round(piece * stride);
    tokens += countTokens(text.slice(start, start + PIECE));
  }
  return Math.round((tokens * text.length) / (PIECE * PIECES));
}
