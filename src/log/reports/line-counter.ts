import { countIn } from '../../lib/text.ts';

/** Characters between two places whose line is remembered. */
const STRETCH = 4_096;

/**
 * Gives the 1-based line of a place in a text, over `split('\n')`: a lone `\r` ends none. Whatever the order
 * it is asked in, the text is read once.
 */
export function createLineCounter(text: string): (at: number) => number {
  /** Lines that end before each stretch. */
  const ended = [0];
  return (at) => {
    const stretch = Math.floor(Math.min(at, text.length) / STRETCH);
    for (let known = ended.length - 1; known < stretch; known++)
      ended.push((ended[known] ?? 0) + countIn(text.slice(known * STRETCH, (known + 1) * STRETCH), '\n'));
    return 1 + (ended[stretch] ?? 0) + countIn(text.slice(stretch * STRETCH, at), '\n');
  };
}
