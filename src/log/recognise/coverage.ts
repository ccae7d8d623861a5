import { isNoise, tokenize } from './words.ts';

/** What words and pairs of neighbouring words count; what every log prints counts little (the weights of the hashing embedder). */
const WEIGHTS = { word: 1, noise: 0.2, pair: 1.2, noisePair: 0.4 } as const;
/** A question of one or two words is found in too many texts to prove anything. */
const ENOUGH_WORDS = 3;

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
