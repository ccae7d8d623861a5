import { TriageError } from '../../domain/errors.ts';
import { isNoise, tokenize } from '../../log/fingerprint/normalize.ts';
import type { Embedder } from '../../ports/vector-index.ts';
import { toUnitVector } from './vectors.ts';

const DIMENSIONS = 512;
/**
 * The weight of each kind of feature. Pairs of words are more informative than single words. Pieces of words
 * help only if words differ.
 */
const WEIGHTS = { word: 1, noise: 0.2, pair: 1.2, noisePair: 0.4, piece: 0.25 } as const;
const FEATURE_KINDS = ['word', 'noise', 'pair', 'noisePair', 'piece'] as const;
type FeatureKind = (typeof FEATURE_KINDS)[number];
const PIECE = 4;
/** The seeds keep words, pairs and pieces with the same text apart. */
const WORD_SEED = 0x01;
const PAIR_SEED = 0x02;
const PIECE_SEED = 0x03;

/**
 * Creates an embedder that uses feature hashing, without a model or a download. Each word, pair of
 * neighboring words, and four-character piece of an identifier is hashed to one of 512 positions with a
 * hashed sign, so that collisions cancel out on average (Weinberger, Dasgupta, Langford, Smola, Attenberg:
 * Feature Hashing for Large Scale Multitask Learning, ICML 2009). Counts are dampened (1 + ln tf), and the
 * vector has length 1. The same text always gives the same vector. A text without words gives a fixed unit
 * vector.
 */
export function createHashingEmbedder(): Embedder {
  return {
    name: 'hashing-512-v1',
    dimensions: DIMENSIONS,
    async embed(texts, signal) {
      return texts.map((text) => {
        if (signal?.aborted)
          throw new TriageError('cancelled', 'Embedding was canceled.', { cause: signal.reason });
        return embedOne(text);
      });
    },
  };
}

function embedOne(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  const features = countFeatures(text);
  for (const kind of FEATURE_KINDS) {
    const weight = WEIGHTS[kind];
    for (const [hash, count] of features[kind]) {
      const place = (hash >>> 1) % DIMENSIONS;
      const value = weight * (1 + Math.log(count));
      vector[place] = (vector[place] ?? 0) + (hash & 1 ? value : -value);
    }
  }
  return toUnitVector(vector);
}

/** Counts the occurrences of each feature, by its hash. */
function countFeatures(text: string): Record<FeatureKind, Map<number, number>> {
  const counts: Record<FeatureKind, Map<number, number>> = {
    word: new Map(),
    noise: new Map(),
    pair: new Map(),
    noisePair: new Map(),
    piece: new Map(),
  };
  const { words, identifiers } = tokenize(text);
  let previous = '';
  let previousNoise = true;
  for (const word of words) {
    const noise = isNoise(word);
    count(noise ? counts.noise : counts.word, computeHash(word, WORD_SEED));
    if (previous !== '')
      count(
        noise && previousNoise ? counts.noisePair : counts.pair,
        computeHash(`${previous} ${word}`, PAIR_SEED),
      );
    previous = word;
    previousNoise = noise;
  }
  for (const identifier of identifiers) {
    for (let start = 0; start + PIECE <= identifier.length; start += 1) {
      count(counts.piece, computeHash(identifier, PIECE_SEED, start, start + PIECE));
    }
  }
  return counts;
}

function count(counts: Map<number, number>, hash: number): void {
  counts.set(hash, (counts.get(hash) ?? 0) + 1);
}

/**
 * Computes FNV-1a over UTF-16 units with the finalizer of murmur3, so that low and high bits are distributed
 * equally well.
 */
function computeHash(text: string, seed: number, start = 0, end = text.length): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let index = start; index < end; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
