import { isNoise, tokenize } from './normalize.ts';

/**
 * Words that tools of all kinds print in failures of all kinds. Two texts that share them may have different
 * causes.
 */
const COMMON = new Set(
  (
    'accept access actual added address after again aborted abort all already also any argument ' +
    'arguments array assert assertion attempt attempted available bad because before begin between ' +
    'block boolean branch broken but call called cannot cause caused change changed check class ' +
    'client close closed code command commit compare config configuration connect connected ' +
    'connection console content continue correct could count create created current data default ' +
    'define defined deleted denied dependencies dependency details different directory does done ' +
    'during each empty end ended entry environment equal even event exception execute executed ' +
    'executing execution exist exists expect expected expression false field folder for force ' +
    'forbidden format found function get given github gitlab got handle host id ignored import in ' +
    'inside incorrect index install installed instance instead internal invalid item java javascript ' +
    'jenkins just key kind last length library like limit list load local locked long longer lost ' +
    'made make may memory message method missing mode module modules more must name named native need ' +
    'needed needs new next nil node none nothing now npm null number object occurred off ok old once ' +
    'one only open operation option options other out output own package packages page param ' +
    'parameter parse parsed pass passed path permission please pointer port possible present private ' +
    'program project property provide provided public python raise raised reach reached read reason ' +
    'receive received refer reference refused reject rejected release remote remove removed ' +
    'repository request require required requires reset resource response result results resolve ' +
    'resolved retry return returned returns root runtime same script second seconds section self send ' +
    'sent server service session set setting should show side signal since size skip skipped socket ' +
    'some source stack start started state statement step still stop stopped string success ' +
    'successfully such suite support supported sure symbol syntax system target task text than thread ' +
    'throw thrown time timed timeout times token tool total trace trying try true tried type ' +
    'typeerror unable undefined unexpected unit unknown unless unresolved until update updated url ' +
    'use used user using valid value values variable version via wait waiting want warnings while ' +
    'without word write wrong yaml yes zero'
  ).split(' '),
);

/** The weights of distinctive words, of other words, and of codes such as `E-4711`. */
const [DISTINCTIVE, COMMON_WORD, CODE] = [1, 0.3, 2];
/** The minimum weight of a text that identifies an error. */
export const NAMES = 2;

const TOKEN = /[\p{L}\p{N}]{1,80}(?:[-_][\p{L}\p{N}]{1,80}){0,12}/gu;
/**
 * A code that a tool or team assigned to an error: letters and at least two digits. Names of algorithms and
 * formats are excluded.
 */
const CODE_SHAPE = new RegExp(
  String.raw`^(?!(?:SHA|AES|RSA|MD|UTF|ISO|HTTPS?|RFC|IPV|JDK|UTC|GMT|X|V)[-_]?\d)` +
    String.raw`\p{Lu}[\p{Lu}\p{N}]{0,11}(?:[-_][\p{Lu}\p{N}]{1,16}){0,3}$`,
  'u',
);
const MAX_TEXT = 20_000;

/** Returns the codes in a text, in lower case and without hyphens: `e4711`. */
export function listCodes(text: string): string[] {
  const tokens = Array.from(text.slice(0, MAX_TEXT).matchAll(TOKEN), ([token]) => token);
  const codes = tokens.filter(
    (token) => token.length <= 40 && CODE_SHAPE.test(token) && /\d[\d_-]{0,80}\d/.test(token),
  );
  return [...new Set(codes.map((code) => code.toLowerCase().replace(/[-_]/g, '')))];
}

/**
 * Returns the distinctive codes and words of a text with their weights. Numbers and words that every log
 * contains are left out.
 */
export function weighWords(text: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const code of listCodes(text)) weights.set(code, CODE);
  for (const word of tokenize(text).words) {
    if (isNoise(word) || /^\p{N}+$/u.test(word)) continue;
    const stem = stemWord(word);
    weights.set(stem, COMMON.has(word) || COMMON.has(stem) || word.length < 3 ? COMMON_WORD : DISTINCTIVE);
  }
  return weights;
}

/** Returns the total weight of the words, or of those that are also in `among`. */
export function sumWeights(words: ReadonlyMap<string, number>, among?: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [word, weight] of words) if (among === undefined || among.has(word)) sum += weight;
  return sum;
}

/** Removes the endings of English plurals and tenses, so that "leases" is "lease". */
function stemWord(word: string): string {
  if (word.length > 5 && /(?:[^s]ed|ing)$/.test(word))
    return word.replace(/(?:ed|ing)$/, '').replace(/(.)\1$/, '$1');
  if (word.length > 5 && /(?:ss|x|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.length > 3 && /[^su]s$/.test(word) ? word.slice(0, -1) : word;
}
