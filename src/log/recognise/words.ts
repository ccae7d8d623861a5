/** Words that carry no meaning of a failure: English glue, and what every log prints whatever went wrong. */
const NOISE = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have if in into is it its of on or so than that the their then there ' +
    'these they this those to was we were when where which will with would you your not no ' +
    'error errors err failed failure fail fatal warning warn info debug exit code status exited process completed build step job run running ' +
    'log see more at line lines file files com org net www http https home runner work tmp usr lib bin src main test tests'
  ).split(' '),
);

const MAX_CHARACTERS = 20_000;
/** From this length on a word has pieces worth comparing. */
const LONG = 6;
const WORD = /[\p{L}_][\p{L}\p{N}_]*|\p{N}+/gu;

/** A text as words for retrieval. */
export interface Tokens {
  /** Lower case, in order; numbers of two or more digits are `0`, codes such as `ts2304` stay whole. */
  readonly words: readonly string[];
  /** Identifiers made of several words, or long ones, whole and in lower case: `classnotfoundexception`. */
  readonly identifiers: readonly string[];
}

/** Cuts log text into words: camelCase, snake_case and dotted names fall apart, and their whole form is kept beside them. */
export function tokenize(text: string): Tokens {
  const words: string[] = [];
  const identifiers: string[] = [];
  for (const match of text.slice(0, MAX_CHARACTERS).matchAll(WORD)) addToken(match[0], words, identifiers);
  return { words, identifiers };
}

export function isNoise(word: string): boolean {
  return word.length < 2 || NOISE.has(word);
}

function addToken(token: string, words: string[], identifiers: string[]): void {
  if (/^[a-z]+$/.test(token)) {
    words.push(token);
    if (token.length >= LONG) identifiers.push(token);
    return;
  }
  if (/^\p{N}/u.test(token)) {
    words.push(maskNumber(token));
    return;
  }
  // Long hexadecimal runs are hashes and addresses: they never come again.
  if (/^(?=.*\d)[0-9a-f]{7,}$/i.test(token)) return;
  const parts = token
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/\p{Lu}(?=\p{Lu}\p{Ll})/gu, '$& ')
    .split(/[ _]+/)
    .filter((part) => part !== '');
  const whole = token.toLowerCase();
  for (const part of parts) words.push(part.toLowerCase());
  if (parts.length > 1 || whole.length >= LONG) identifiers.push(whole.replaceAll('_', ''));
}

/** HTTP statuses, exit codes and signals keep their number: they are names. Any other number only says that there is one. */
function maskNumber(digits: string): string {
  return /^(?:1|2|126|127|13[0-9]|143|401|403|404|407|408|409|410|429|500|502|503|504)$/.test(digits) ? digits : '0';
}
