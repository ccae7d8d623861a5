import { stripEscapes } from '../lines/clean.ts';

const DURATION = new RegExp(
  String.raw`\d{1,12}(?:[.,]\d{1,12})?\s?(?:ns|us|µs|ms|millis|milliseconds?|s|secs?|` +
    'seconds?|m|mins?|minutes?|h|hours?|days?)(?![A-Za-z])',
);

/**
 * The replacements, in order: long forms first, bare numbers last. Every quantifier is bounded or runs over
 * one class.
 */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/[‘’“”"`´]/g, "'"],
  [/\b\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [
    new RegExp(
      String.raw`\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? {1,2}(?:\d{1,2} )?(?:Jan|Feb|` +
        String.raw`Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\b`,
      'g',
    ),
    '<time>',
  ],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b0x[0-9a-f]{1,16}\b/gi, '<hex>'],
  // Digits alone count as a number, whatever their length.
  [/\b(?=[0-9a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,64}\b/gi, '<hex>'],
  // The same service may be addressed by name, by IPv4 or by IPv6, depending on the machine.
  [/(?<![\w:.-])(?:localhost|\[?::1\]?)(?::\d{1,5})?(?![\w:-])/g, '<address>'],
  // Java prints the address of a socket after the name that was requested: ci-7.example.net/10.0.0.7:50000.
  [/(?:(?<![\w.-])[\w.-]{1,100}\/)?\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '<address>'],
  [
    new RegExp(
      String.raw`(?<![\w:])(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}(?![\w:])|` +
        String.raw`(?<![\w:])(?:(?:[0-9a-f]{1,4}:){1,6}|:):(?=[a-f]{0,4}\d)[0-9a-f]{1,4}(?![\w:])`,
      'gi',
    ),
    '<address>',
  ],
  [/(?<=[\w\]])@[0-9a-f]{5,8}\b/g, '@<hex>'],
  [new RegExp(`\\b${DURATION.source}(?:,? ?${DURATION.source}){0,3}`, 'g'), '<duration>'],
  [/\b\d{1,12}(?:[.,]\d{1,12})?\s?(?:[kKMGT]i?B|bytes?)\b/g, '<size>'],
  // Absolute and relative paths of any system are reduced to the file's name.
  [
    new RegExp(
      String.raw`(?:\bfile://|\\\\\?\\)?(?:[A-Za-z]:|(?<![\w.@+~-])[\w.@+~-]{1,100})?` +
        String.raw`(?:[\\/]{1,2}[\w.@+~-]{1,100}){2,30}`,
      'g',
    ),
    '<path>',
  ],
  [/\btmp(?:(?=[a-z]{0,7}[0-9_])[a-z0-9_]{8}|\.[A-Za-z0-9]{6,12})\b/g, '<tmp>'],
  [/\d+(?:\.\d+)*/g, '<n>'],
  [/\*{3,}/g, '***'],
  [/\s+/g, ' '],
];

/**
 * Returns a message without the parts that change from run to run: times, ids, addresses, folders of paths,
 * and numbers.
 */
export function normalizeMessage(text: string): string {
  return replaceAll(text, REPLACEMENTS);
}

function replaceAll(text: string, replacements: typeof REPLACEMENTS): string {
  let out = stripEscapes(text.slice(0, 1_000));
  for (const [pattern, replacement] of replacements) {
    out = replacement === '<path>' ? out.replace(pattern, getBaseName) : out.replace(pattern, replacement);
  }
  return out.trim();
}

/** The placeholders for numbers and amounts. Compared values keep these. */
const AMOUNTS: ReadonlySet<string> = new Set(['<n>', '<duration>', '<size>']);

/**
 * Returns a value that a check compared, without the parts that change from run to run. Numbers and amounts
 * of up to four digits are kept.
 */
export function normalizeValue(text: string): string {
  return replaceAll(
    text,
    REPLACEMENTS.filter(([, replacement]) => !AMOUNTS.has(replacement)),
  ).replace(/\d{5,}/g, '<n>');
}

/** Numbers that distinguish failures: HTTP statuses and exit codes, recognized by the words around them. */
const MEANINGFUL_NUMBERS: readonly RegExp[] = [
  new RegExp(
    String.raw`(?<=\b(?:HTTP(?:/\d(?:\.\d)?)?|status(?: ?code)?|response(?: code)?|returned(?: error)?|` +
      String.raw`responded with|server error|client error|HTTP error)[ :='"(]{1,3})[1-5]\d\d\b`,
    'gi',
  ),
  new RegExp(
    String.raw`\b[45]\d\d(?= (?:Bad|Unauthori[sz]ed|Payment|Forbidden|Not |Method|Conflict|Gone|` +
      'Too Many|Unprocessable|Internal|Service|Gateway|Client Error|Server Error))',
    'g',
  ),
  /(?<=\bE)[45]\d\d\b/g,
  /(?<=\bexit(?:ed)?(?: with)?(?: (?:code|status|value))?[ :='"(]{1,3})-?\d{1,3}\b/gi,
];

/**
 * Text that differs between two reports of one failure, depending on the reporter, on which check came first,
 * or on chance.
 */
const CHANCE: readonly (readonly [RegExp, string])[] = [
  // Some reporters print the class of the assertion before its message.
  [
    new RegExp(
      String.raw`^(?:[\w.$]{0,100}\.)?(?:AssertionError|AssertionFailedError|` +
        String.raw`ComparisonFailure)(?: \[\w{1,40}\])?: (?=\S)`,
    ),
    '',
  ],
  [/\b(?:strictly |loosely )?(?:deep(?:ly)?[- ])?(?=equal\b)/, ''],
  // V8 prints the function that requested memory last.
  [
    /^(?:# )?Fatal (?:process OOM in|javascript OOM in|javascript out of memory:) .{1,200}$/i,
    '<v8-out-of-memory>',
  ],
  [/^FATAL ERROR: .{1,200} JavaScript heap out of memory$/, '<v8-out-of-memory>'],
];

/**
 * Normalizes a message like `normalizeMessage`, but keeps HTTP statuses and exit codes, because a 404 is not
 * a 502. Removes the class of an assertion before its message, and how strictly it compared.
 */
export function normalizeIdentity(text: string): string {
  let kept = text.slice(0, 1_000);
  for (const [pattern, replacement] of CHANCE) kept = kept.replace(pattern, replacement);
  for (const pattern of MEANINGFUL_NUMBERS) kept = kept.replace(pattern, spellDigits);
  return normalizeMessage(kept);
}

/** Spells digits as letters, so that normalization does not replace them: 502 → <code-fac>. */
function spellDigits(digits: string): string {
  return `<code-${digits.replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')}>`;
}

function getBaseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** Words without meaning for a failure: function words of English, and words that every log contains. */
const NOISE = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have if in into is it ' +
    'its of on or so than that the their then there ' +
    'these they this those to was we were when where which will with would you your not no ' +
    'error errors err failed failure fail fatal warning warn info debug exit code status exited ' +
    'process completed build step job run running ' +
    'log see more at line lines file files com org net www http https home runner work tmp usr lib ' +
    'bin src main test tests'
  ).split(' '),
);

const MAX_CHARACTERS = 20_000;
/** The minimum length of words that are also compared in parts. */
const LONG = 6;
const WORD = /[\p{L}_][\p{L}\p{N}_]*|\p{N}+/gu;
/**
 * The weights of words and of pairs of adjacent words, as in the hashing embedder. Words that every log
 * contains count little.
 */
const WEIGHTS = { word: 1, noise: 0.2, pair: 1.2, noisePair: 0.4 } as const;
/** The number of informative words from which a match counts in full. Fewer are found in too many texts. */
const ENOUGH_WORDS = 3;

/**
 * Splits log text into words for retrieval, in lower case and in order. Names in camelCase, snake_case and
 * with dots are split, numbers of two or more digits become `0`, and codes such as `ts2304` stay whole. Also
 * returns identifiers that are long or consist of several words, unsplit: `classnotfoundexception`.
 */
export function tokenize(text: string): { readonly words: string[]; readonly identifiers: string[] } {
  const words: string[] = [];
  const identifiers: string[] = [];
  for (const match of text.slice(0, MAX_CHARACTERS).matchAll(WORD)) addToken(match[0], words, identifiers);
  return { words, identifiers };
}

export function isNoise(word: string): boolean {
  return word.length < 2 || NOISE.has(word);
}

/**
 * Parses a question for {@link computeCoverage}: the weight of each part, and the distinct words to search
 * by. These are the informative ones, or all if there are none.
 */
export function parseQuestion(question: string) {
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
  const informative = unique.filter((word) => !isNoise(word) && word !== '0');
  return { parts, total, terms: informative.length > 0 ? informative : unique };
}

/** Returns the words of a text in order, as {@link computeCoverage} compares them. */
export function tokenizeWords(text: string): string[] {
  return tokenize(text).words;
}

/**
 * Computes the share of a question that a text contains, 0..1: the weight of its words and word pairs in the
 * text. A text that contains the whole line gets 1. A question with fewer than three informative words gets
 * at most a third for each of them.
 */
export function computeCoverage(wanted: ReturnType<typeof parseQuestion>, words: readonly string[]): number {
  if (wanted.total === 0) return 0;
  const wordSet = new Set<string>();
  for (const [index, word] of words.entries()) {
    wordSet.add(word);
    const previous = words[index - 1];
    if (previous !== undefined) wordSet.add(`${previous} ${word}`);
  }
  let found = 0;
  for (const [part, weight] of wanted.parts) if (wordSet.has(part)) found += weight;
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
  // Long hexadecimal numbers are hashes and addresses, which never occur again.
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

/** Keeps HTTP statuses, exit codes and signal numbers. Any other number becomes `0`. */
function maskNumber(digits: string): string {
  return /^(?:1|2|126|127|13[0-9]|143|401|403|404|407|408|409|410|429|500|502|503|504)$/.test(digits)
    ? digits
    : '0';
}
