import type { Failure } from '../../domain/failure.ts';
import { NAMES, sumWeights, weighWords } from './distinctive.ts';
import { testIdentity } from './failures.ts';
import { buildLikenessText, extractLikeness } from './likeness.ts';
import { normalizeIdentity } from './normalize.ts';

/**
 * Thresholds of the likeness of two failures. At `shown`, a person's decision is shown as a precedent; at
 * `proposes`, its category, cause and fix are proposed. docs/evidence/retrieval.md explains how they were
 * measured. They apply to every embedder, because embedders only select which decisions are compared.
 */
export const LIKENESS = { shown: 0.5, proposes: 0.75 } as const;

/** The share of common distinctive words at which two texts count as the same. */
const SAME_TEXT = 0.9;

/** A failure as it is compared: its text, and its test if it has one. */
export interface ComparedFailure {
  /** The result of `buildLikenessText`: the message, an empty line, the other lines. */
  readonly text: string;
  readonly test: string | null;
}

/** Extracts the parts of a failure that are compared. */
export function toComparedFailure(
  failure: Pick<Failure, 'test' | 'message' | 'frames' | 'excerpt'>,
): ComparedFailure {
  const text = buildLikenessText(extractLikeness(failure)) || failure.message.trim();
  return { text, test: failure.test === null ? null : testIdentity(failure.test) };
}

/**
 * Computes how alike two failures are, 0..1, from their distinctive words. A message counts by the share of
 * its distinctive words that the other failure has, in both directions, so that a common line does not make
 * two failures alike. A message without distinctive words ("expected 3, got 4", "exit code 1") counts only
 * with the same test or the same lines around it.
 */
export function compareFailures(first: ComparedFailure, second: ComparedFailure): number {
  const sameTest = first.test !== null && first.test === second.test;
  const [left, right] = [readParts(first), readParts(second)];
  const isPlain = left.weight < NAMES || right.weight < NAMES;
  const hasNoTest = first.test === null && second.test === null;
  const score = isPlain ? comparePlain(left, right, hasNoTest) : compareMessages(left, right);
  return sameTest ? Math.max(score, LIKENESS.shown) : score;
}

interface Parts {
  readonly message: string;
  readonly messageWords: ReadonlyMap<string, number>;
  readonly weight: number;
  readonly words: ReadonlyMap<string, number>;
}

function readParts({ text }: ComparedFailure): Parts {
  const end = text.indexOf('\n\n');
  // Older entries have no empty line; their first line is the message.
  const message = (end < 0 ? text.split('\n', 1)[0] : text.slice(0, end)) ?? '';
  const messageWords = weighWords(message);
  return { message, messageWords, weight: sumWeights(messageWords), words: weighWords(text) };
}

function compareMessages(left: Parts, right: Parts): number {
  return Math.min(computeShare(left.messageWords, right.words), computeShare(right.messageWords, left.words));
}

function comparePlain(left: Parts, right: Parts, withoutTest: boolean): number {
  if (!withoutTest || normalizeIdentity(left.message) !== normalizeIdentity(right.message)) return 0;
  const whole = Math.min(computeShare(left.words, right.words), computeShare(right.words, left.words));
  return whole >= SAME_TEXT ? whole : LIKENESS.shown;
}

function computeShare(words: ReadonlyMap<string, number>, among: ReadonlyMap<string, number>): number {
  const all = sumWeights(words);
  return all === 0 ? 0 : sumWeights(words, among) / all;
}
