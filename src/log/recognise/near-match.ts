import type { LikenessParts } from './likeness.ts';
import { likenessFeatures } from './likeness-features.ts';

export interface NearMatchEntry {
  readonly id: string;
  readonly parts: LikenessParts;
}

export interface NearMatch {
  readonly id: string;
  /** 0..1; 1 is the same text in every part. */
  readonly score: number;
}

export interface NearMatchIndex {
  readonly size: number;
  /** The `limit` nearest entries with at least `minScore`, best first; equal scores in the order of the entries. */
  search(parts: LikenessParts, limit: number, minScore?: number): NearMatch[];
}

/** Below this, two failures share words and nothing more; see docs/reading.md for how it was chosen. */
export const NEAR = 0.4;

/**
 * An index of failures by likeness: TF-IDF with the cosine of the angle (Salton & Buckley 1988), over words, pairs of words and
 * whole lines, the test's name and own frames, each part with a weight of its own. Exact: every entry that shares a feature
 * is scored. Pure; the same entries in the same order give the same scores. An id given twice is two entries.
 */
export function nearMatchIndex(entries: readonly NearMatchEntry[]): NearMatchIndex {
  const counted = entries.map(({ parts }) => likenessFeatures(parts));
  const postings = new Map<string, { readonly entry: number[]; readonly weight: number[] }>();
  for (const [entry, features] of counted.entries()) {
    for (const [feature, weight] of features) {
      const list = postings.get(feature) ?? { entry: [], weight: [] };
      if (list.entry.length === 0) postings.set(feature, list);
      list.entry.push(entry);
      list.weight.push(weight);
    }
  }
  const rarity = (feature: string) => Math.log(1 + entries.length / Math.max(1, postings.get(feature)?.entry.length ?? 0));
  const lengths = counted.map((features) => lengthOf(features, rarity));

  return {
    size: entries.length,
    search(parts, limit, minScore = NEAR) {
      const features = likenessFeatures(parts);
      const length = lengthOf(features, rarity);
      if (length === 0) return [];
      const products = new Float64Array(entries.length);
      for (const [feature, weight] of features) {
        const list = postings.get(feature);
        if (list === undefined) continue;
        const factor = weight * rarity(feature) ** 2;
        for (let at = 0; at < list.entry.length; at++) {
          const entry = list.entry[at] ?? 0;
          products[entry] = (products[entry] ?? 0) + factor * (list.weight[at] ?? 0);
        }
      }
      const scores = products.map((product, entry) => (product === 0 ? 0 : Math.min(1, product / (length * (lengths[entry] ?? 1)))));
      return nearest(entries, scores, limit, minScore);
    },
  };
}

function nearest(entries: readonly NearMatchEntry[], scores: Float64Array, limit: number, minScore: number): NearMatch[] {
  const found: NearMatch[] = [];
  for (const [entry, { id }] of entries.entries()) {
    const score = scores[entry] ?? 0;
    if (score > 0 && score >= minScore) found.push({ id, score });
  }
  return found.sort((left, right) => right.score - left.score).slice(0, limit);
}

function lengthOf(features: ReadonlyMap<string, number>, rarity: (feature: string) => number): number {
  let sum = 0;
  for (const [feature, weight] of features) sum += (weight * rarity(feature)) ** 2;
  return Math.sqrt(sum);
}
