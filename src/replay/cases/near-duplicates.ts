import { isUnknown, listFailures } from '../../log/fingerprint/failures.ts';
import {
  createNearMatchIndex,
  extractLikeness,
  type LikenessParts,
  listLikenessFeatures,
} from '../../log/fingerprint/likeness.ts';
import { readSources } from '../../log/read-sources.ts';
import type { CaseTexts } from './case.ts';

export interface Comparable {
  readonly id: string;
  readonly parts: LikenessParts;
  /** The fingerprint of the failure; null if it is unknown or generic. */
  readonly fingerprint: string | null;
}

export interface NearDuplicate {
  readonly id: string;
  /** The similarity of two failures, 0..1. */
  readonly score: number;
  readonly sameFingerprint: boolean;
}

/** The maximum number of candidates that are scored for one case. */
const MAX_SCORED = 5;
/** The minimum number of min-hashes that a candidate must share. Near-duplicates have far more in common. */
const MIN_SHARED = 8;
/** The maximum number of cases per bucket. A feature that more cases share does not distinguish them. */
const MAX_COMMON = 40;
/**
 * The number of min-hashes of a case's features (Broder 1997). They are compared in pairs: of two cases with
 * half of their features in common, 99% share a pair.
 */
const HASHES = 32;

/**
 * Creates an index that finds the nearest case without comparing each case with all others. Candidates share
 * the fingerprint, or a pair of min-hashes of their features; only these are scored. It keeps the texts of
 * the cases, at most a few kilobytes each.
 */
export function findNearDuplicatesAmong(cases: readonly Comparable[], minScore: number) {
  const byFingerprint = new Map<string, number>();
  const buckets = new Map<string, number[]>();
  const hashes = cases.map(({ parts }) => computeMinHashes(parts));
  for (const [at, { fingerprint }] of cases.entries()) {
    if (fingerprint !== null && !byFingerprint.has(fingerprint)) byFingerprint.set(fingerprint, at);
    for (const key of createKeys(hashes[at] ?? null)) {
      const bucket = buckets.get(key) ?? [];
      if (bucket.length === 0) buckets.set(key, bucket);
      if (bucket.length < MAX_COMMON) bucket.push(at);
    }
  }
  const candidatesFor = (signature: Uint32Array | null) => {
    const found = new Set(createKeys(signature).flatMap((key) => buckets.get(key) ?? []));
    const shared = [...found].map((at) => ({ at, hashes: countSharedHashes(signature, hashes[at] ?? null) }));
    const close = shared.filter((pair) => pair.hashes >= MIN_SHARED);
    return close.sort((left, right) => right.hashes - left.hashes || left.at - right.at).slice(0, MAX_SCORED);
  };
  /**
   * Returns the first case with the same fingerprint, or else the most similar one with at least the minimum
   * score. Returns null if there is none.
   */
  return ({ parts, fingerprint }: Comparable): NearDuplicate | null => {
    const same = fingerprint === null ? undefined : cases[byFingerprint.get(fingerprint) ?? -1];
    if (same !== undefined)
      return { id: same.id, score: computeLikeness(parts, same.parts), sameFingerprint: true };
    let best: NearDuplicate | null = null;
    for (const { at } of candidatesFor(computeMinHashes(parts))) {
      const other = cases[at];
      const score = other === undefined ? 0 : computeLikeness(parts, other.parts);
      if (other !== undefined && score >= minScore && score > (best?.score ?? 0))
        best = { id: other.id, score, sameFingerprint: false };
    }
    return best;
  };
}

/**
 * Computes the similarity of two failures. The index contains only one failure, so all features have the same
 * weight and the score depends only on these two.
 */
function computeLikeness(parts: LikenessParts, other: LikenessParts): number {
  return createNearMatchIndex([{ id: '', parts: other }]).search(parts, 1, 0)[0]?.score ?? 0;
}

/** Computes the min-hashes of a failure. Returns null if it has no features to compare. */
function computeMinHashes(parts: LikenessParts): Uint32Array | null {
  const features = listLikenessFeatures(parts);
  if (features.size === 0) return null;
  const least = new Uint32Array(HASHES).fill(0xffffffff);
  for (const feature of features.keys()) {
    const first = hashMixed(feature, 0x811c9dc5);
    const second = hashMixed(feature, 0x9747b28c) | 1;
    for (let at = 0; at < HASHES; at++) {
      const hash = (first + Math.imul(at, second)) >>> 0;
      if (hash < (least[at] ?? 0)) least[at] = hash;
    }
  }
  return least;
}

function createKeys(least: Uint32Array | null): string[] {
  if (least === null) return [];
  return Array.from({ length: HASHES / 2 }, (_, pair) => `${pair}:${least[2 * pair]}:${least[2 * pair + 1]}`);
}

function countSharedHashes(left: Uint32Array | null, right: Uint32Array | null): number {
  let shared = 0;
  for (let at = 0; at < HASHES; at++) if (left !== null && right !== null && left[at] === right[at]) shared++;
  return shared;
}

/**
 * Hashes the UTF-16 of a text by FNV-1a, and then mixes it (finalizer of MurmurHash3) so that every bit
 * depends on all characters.
 */
function hashMixed(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The maximum size of an excerpt in lines and characters. In a longer text, the failure is read first. */
const SHORT_LINES = 30;
const SHORT_TEXT = 2_000;
/** The token budget for reading the failure of a long log. */
const BUDGET = 1_000;
/** The limits on lines per case and characters per line; the similarity uses no more. */
const MAX_LINES = 40;
const MAX_LINE = 300;

/**
 * Extracts the features by which a case is compared: its text if it is an excerpt, or else its first failure
 * as read from the log.
 */
export function toComparable(id: string, { sources }: Pick<CaseTexts, 'sources'>): Comparable {
  const text = sources[0]?.text ?? '';
  const lines = text.length <= SHORT_TEXT ? text.split('\n') : [];
  if (sources.length === 1 && text.length <= SHORT_TEXT && lines.length <= SHORT_LINES) {
    return {
      id,
      parts: { test: null, message: null, frames: [], lines: copyLines(lines) },
      fingerprint: null,
    };
  }
  const [failure] = listFailures(readSources(sources, { budgetTokens: BUDGET }));
  if (failure === undefined)
    return {
      id,
      parts: { test: null, message: null, frames: [], lines: copyLines(lines) },
      fingerprint: null,
    };
  const { test, message, frames, lines: around } = extractLikeness(failure);
  const known = !failure.generic && !isUnknown(failure.fingerprint);
  const parts = { test, message: message?.slice(0, SHORT_TEXT) ?? null, frames, lines: copyLines(around) };
  return { id, parts, fingerprint: known ? failure.fingerprint.value : null };
}

/** Copies lines, because a part of a long string would keep the whole string in memory. */
function copyLines(lines: readonly string[]): string[] {
  return lines.slice(0, MAX_LINES).map((line) => Buffer.from(line.slice(0, MAX_LINE)).toString());
}
