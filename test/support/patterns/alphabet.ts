import type { AST } from '@eslint-community/regexpp';

/** A set of characters of an {@link Alphabet}, with one bit for each character. */
export type CharSet = bigint;

/**
 * The characters that can tell any two sets of the given patterns apart, so that sets can be compared bit by
 * bit.
 */
export interface Alphabet {
  readonly all: CharSet;
  /** Returns the characters that a leaf matches, according to the engine itself with these flags. */
  toCharSet(
    leaf: AST.Character | AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass,
    flags: string,
  ): CharSet;
  /** Does the same for the source of a pattern for one character. */
  setOfSource(source: string, flags: string): CharSet;
}

/**
 * A letter, a digit, spaces, line ends, marks, ideographs and surrogates beyond Latin-1, for classes that do
 * not list their characters.
 */
const BEYOND = [
  'Ж',
  'ж',
  '٣',
  '\u2003',
  '\u2028',
  '\ufeff',
  '\u0301',
  '中',
  '…',
  '✓',
  '\ud83d',
  '\ude00',
  '\uffff',
  'ſ',
  'K',
];

/**
 * Returns the alphabet for patterns: Latin-1, and every further character in `sources` with its neighbors.
 * Ranges differ only at these characters.
 */
export function createAlphabet(sources: readonly string[]): Alphabet {
  const named = new Set(Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).concat(BEYOND));
  const note = (code: number) => {
    for (const near of [code - 1, code, code + 1])
      if (near > 255 && near <= 0x10ffff) named.add(String.fromCodePoint(near));
  };
  for (const source of sources) {
    for (const char of [...source, ...source.split('')]) note(char.codePointAt(0) ?? 0);
    for (const [, hex] of source.matchAll(/\\u\{?([0-9a-fA-F]{1,6})/g))
      note(Number.parseInt((hex ?? '').slice(0, 6), 16));
  }
  const characters = [...named];
  const known = new Map<string, CharSet>();
  const setOfSource = (source: string, flags: string) => {
    const key = `${flags}/${source}`;
    const set = known.get(key) ?? matchCharacters(characters, new RegExp(`^(?:${source})$`, flags));
    known.set(key, set);
    return set;
  };
  return {
    all: (1n << BigInt(characters.length)) - 1n,
    toCharSet: (leaf, flags) => setOfSource(leaf.raw, flags.replace(/[gymd]/g, '')),
    setOfSource,
  };
}

function matchCharacters(characters: readonly string[], pattern: RegExp): CharSet {
  let set = 0n;
  for (const [index, char] of characters.entries()) if (pattern.test(char)) set |= 1n << BigInt(index);
  return set;
}
