import { z } from 'zod';

/** Text that somebody typed: trimmed, and not only of blanks, which the pattern also tells whoever reads the API's description. */
export function typedText(max: number) {
  return z.string().regex(/\S/, 'must not be empty').trim().max(max);
}
