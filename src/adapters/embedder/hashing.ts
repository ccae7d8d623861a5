import { TriageError } from '../../domain/errors.ts';
import type { Embedder } from '../../ports/embedder.ts';
import { isNoise, tokenize } from './tokens.ts';

const DIMENSIONS = 512;
/** How much each kind of feature counts. Pairs of words say more than either word; pieces of words only help where words differ. */
const WEIGHTS = { word: 1, noise: 0.2, pair: 1.2, noisePair: 0.4, piece: 0.25 } as const;
const PIECE = 4;
/** A word, a pair and a piece that look alike are different features. */
const WORD_SEED = 0x01;
const PAIR_SEED = 0x02;
const PIECE_SEED = 0x03;

/**
 * Embeds by feature hashing, with no model and no download: each word, pair of neighbouring words, and piece of four
 * characters of an identifier is hashed to one of 512 places with a hashed sign, so that collisions cancel on average
 * (Weinberger, Dasgupta, Langford, Smola, Attenberg: Feature Hashing for Large Scale Multitask Learning, ICML 2009).
 * Counts are dampened (1 + ln tf) and the vector has length 1. The same text gives the same vector everywhere; a text
 * without any word gives a fixed unit vector.
 */
export function createHashingEmbedder(): Embedder {
  return {
    name: 'hashing-512-v1',
    dimensions: DIMENSIONS,
    async embed(texts, signal) {
      return texts.map((text) => {
        if (signal?.aborted) throw new TriageError('cancelled', 'Embedding was cancelled.', { cause: signal.reason });
        return embedOne(text);
      });
    },
  };
}

function embedOne(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const [hash, weight] of featuresOf(text)) {
    const place = (hash >>> 1) % DIMENSIONS;
    vector[place] = (vector[place] ?? 0) + (hash & 1 ? weight : -weight);
  }
  return normalised(vector);
}

/** Hash of each feature with its weight. */
function featuresOf(text: string): Map<number, number> {
  const counts = new Map<number, { count: number; weight: number }>();
  const add = (hash: number, weight: number) => {
    const known = counts.get(hash);
    if (known === undefined) counts.set(hash, { count: 1, weight });
    else known.count += 1;
  };
  const { words, identifiers } = tokenize(text);
  let previous = '';
  for (const word of words) {
    const noise = isNoise(word);
    add(hashOf(word, WORD_SEED), noise ? WEIGHTS.noise : WEIGHTS.word);
    if (previous !== '') add(hashOf(`${previous} ${word}`, PAIR_SEED), noise && isNoise(previous) ? WEIGHTS.noisePair : WEIGHTS.pair);
    previous = word;
  }
  for (const identifier of identifiers) {
    for (let start = 0; start + PIECE <= identifier.length; start += 1) {
      add(hashOf(identifier, PIECE_SEED, start, start + PIECE), WEIGHTS.piece);
    }
  }
  return new Map([...counts].map(([hash, { count, weight }]) => [hash, weight * (1 + Math.log(count))]));
}

/** FNV-1a over UTF-16 units with a final mix (murmur3's), so that low and high bits are equally good. */
function hashOf(text: string, seed: number, start = 0, end = text.length): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let index = start; index < end; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function normalised(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (sum === 0) {
    vector[0] = 1;
    return vector;
  }
  const length = Math.sqrt(sum);
  return vector.map((value) => value / length);
}
