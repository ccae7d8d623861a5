import { countIn } from '../../lib/text.ts';

/** The number of characters between two places whose line number is remembered. */
const STRETCH = 4_096;

/**
 * Creates a function that returns the 1-based line of an offset in a text, over `split('\n')`; a lone `\r`
 * does not end a line. The text is read only once, in whichever order offsets are requested.
 */
export function createLineCounter(text: string): (at: number) => number {
  /** The number of lines that end before each stretch. */
  const ended = [0];
  return (at) => {
    const stretch = Math.floor(Math.min(at, text.length) / STRETCH);
    for (let known = ended.length - 1; known < stretch; known++)
      ended.push((ended[known] ?? 0) + countIn(text.slice(known * STRETCH, (known + 1) * STRETCH), '\n'));
    return 1 + (ended[stretch] ?? 0) + countIn(text.slice(stretch * STRETCH, at), '\n');
  };
}
