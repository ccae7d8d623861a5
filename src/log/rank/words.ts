/** Buckets of hashed words and pairs of words. */
export const BUCKETS = 65_536;

const kindAt = kindsOf([/[a-z_]/, /\d/, /\s/]);
const [DIGIT, SPACE] = [2, 3];
/** Characters of one word at most, by kind: any other sign is a word of its own. */
const LONGEST = [1, 30, 20, 1];
const MAX_WORDS = 40;
const ZERO = 48;
/** FNV-1a, begun otherwise for words and for pairs. */
const PRIME = 16_777_619;
const [WORD, PAIR] = [2_166_136_261 ^ 1, 2_166_136_261 ^ 2];
/** In which turn a bucket was met last. */
const met = new Uint32Array(BUCKETS);
let turn = 0;

/** The buckets of a line's words and pairs, each once. Any number is the word `0`; the first and the last word are paired with the ends. */
export function bucketsOf(text: string): number[] {
  const small = text.slice(0, 300).toLowerCase();
  const buckets: number[] = [];
  const add = (hash: number) => {
    const bucket = (hash ^ (hash >>> 16)) & (BUCKETS - 1);
    if (met[bucket] !== turn) buckets.push(bucket);
    met[bucket] = turn;
  };
  turn = (turn + 1) >>> 0;
  let before = hashOn(PAIR, 'start ');
  for (let at = 0, words = 0; at < small.length && words < MAX_WORDS; ) {
    const kind = kindAt(small, at);
    const last = Math.min(small.length, at + (LONGEST[kind] ?? 1));
    let [word, pair, next, end] = [WORD, before, PAIR, at];
    do {
      const code = kind === DIGIT ? ZERO : small.charCodeAt(end);
      if (kind === DIGIT && end > at) continue;
      word = Math.imul(word ^ code, PRIME);
      pair = Math.imul(pair ^ code, PRIME);
      next = Math.imul(next ^ code, PRIME);
    } while (++end < last && kindAt(small, end) === kind);
    at = end;
    if (kind === SPACE) continue;
    add(word);
    add(pair);
    before = hashOn(next, ' ');
    words++;
  }
  add(hashOn(before, 'end'));
  return buckets;
}

function hashOn(begun: number, text: string): number {
  let hash = begun;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  return hash;
}

/** Tells the first of the patterns, counted from 1, that the character at a place of a text is of; 0 where it is of none. */
export function kindsOf(patterns: readonly RegExp[]): (text: string, at: number) => number {
  const kindOf = (character: string) => patterns.findIndex((pattern) => pattern.test(character)) + 1;
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => kindOf(String.fromCharCode(code)));
  return (text, at) => ascii[text.charCodeAt(at)] ?? kindOf(text.charAt(at));
}
