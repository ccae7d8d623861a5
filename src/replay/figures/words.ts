/** Words that carry no content; they are left out where texts are compared by what they share. */
const STOP_WORDS = new Set(
  (
    'a an and any are as at be been because but by can could did do does for from had has have if in into is it its itself more most no nor not of off on or ' +
    'our out over own so some such than that the their them then there these they this those through to too under until up was we were what when where ' +
    'which while who why will with would you your'
  ).split(' '),
);

/** The words of a text, lower case: camelCase, snake_case, paths and numbers beside letters are taken apart. */
function wordsOf(text: string): string[] {
  const parted = text
    .normalize('NFKC')
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1 ')
    .replace(/(\p{L})(?=\p{N})/gu, '$1 ')
    .replace(/(\p{N})(?=\p{L})/gu, '$1 ');
  return parted.toLowerCase().match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [];
}

/** The words that say something. */
export function contentWords(text: string): string[] {
  return wordsOf(text).filter((word) => !STOP_WORDS.has(word));
}

/**
 * Finds mentions in a text: the same words in the same order, however they are written: `max_retries`, `maxRetries` and "max retries" are
 * one, and so are "time out" and "timeout". Whole words only: "port" is not in "report". A mention without letters and digits must
 * stand as it is.
 */
export function mentionFinder(text: string): (mention: string) => boolean {
  const words = wordsOf(text);
  return (mention) => {
    const wanted = joined(wordsOf(mention));
    if (wanted === '') return text.includes(mention);
    return words.some((_, start) => startsAt(words, start, wanted));
  };
}

function startsAt(words: readonly string[], start: number, wanted: string): boolean {
  let found = '';
  for (let at = start; at < words.length && found.length < wanted.length; at++) found = glued(found, words[at] ?? '');
  return found === wanted;
}

function joined(words: readonly string[]): string {
  return words.reduce(glued, '');
}

/** Numbers stay apart: 1.2 is not 12. */
function glued(left: string, right: string): string {
  return /\p{N}$/u.test(left) && /^\p{N}/u.test(right) ? `${left}.${right}` : left + right;
}
