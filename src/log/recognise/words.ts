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
/** What words and pairs of neighbouring words count; what every log prints counts little (the weights of the hashing embedder). */
const WEIGHTS = { word: 1, noise: 0.2, pair: 1.2, noisePair: 0.4 } as const;
/** A question of one or two words is found in too many texts to prove anything. */
const ENOUGH_WORDS = 3;

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

/** A question as what is looked for, with what each part counts. */
export interface Wanted {
  readonly parts: ReadonlyMap<string, number>;
  readonly total: number;
  /** The words worth searching by, each once; every word where all are common ones. */
  readonly terms: readonly string[];
}

/** Takes a question apart for {@link coverage}. */
export function wantedOf(question: string): Wanted {
  const { words } = tokenize(question);
  const parts = new Map<string, number>();
  for (const [index, word] of words.entries()) {
    parts.set(word, isNoise(word) ? WEIGHTS.noise : WEIGHTS.word);
    const previous = words[index - 1];
    if (previous === undefined) continue;
    parts.set(`${previous} ${word}`, isNoise(previous) && isNoise(word) ? WEIGHTS.noisePair : WEIGHTS.pair);
  }
  let total = 0;
  for (const weight of parts.values()) total += weight;
  const unique = [...new Set(words)];
  const telling = unique.filter((word) => !isNoise(word) && word !== '0');
  return { parts, total, terms: telling.length > 0 ? telling : unique };
}

/** The words of a text as {@link coverage} compares them, in order. */
export function wordsOf(text: string): string[] {
  return [...tokenize(text).words];
}

/**
 * How much of a question a text says: the weight of its words and word pairs that occur in it, 0..1. A whole line that the
 * text quotes gives 1. A question with fewer than three telling words never gives more than a third for each of them.
 */
export function coverage(wanted: Wanted, words: readonly string[]): number {
  if (wanted.total === 0) return 0;
  const said = new Set<string>();
  for (const [index, word] of words.entries()) {
    said.add(word);
    const previous = words[index - 1];
    if (previous !== undefined) said.add(`${previous} ${word}`);
  }
  let found = 0;
  for (const [part, weight] of wanted.parts) if (said.has(part)) found += weight;
  return Math.min(1, found / wanted.total) * Math.min(1, wanted.terms.length / ENOUGH_WORDS);
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
