import type { Failure } from '../../domain/failure.ts';
import { classifyRole, type LineRole } from '../line-roles.ts';
import { cleanLine, stripEscapes } from '../lines/clean.ts';
import { normalizeIdentity } from './normalize.ts';

/** The parts by which two failures are compared. Anything unknown is null or empty. */
export interface LikenessParts {
  /** The failing test's full name. */
  readonly test: string | null;
  readonly message: string | null;
  /** Own frames as `file:function`, the deepest first. */
  readonly frames: readonly string[];
  /** Lines of the log around the failure. */
  readonly lines: readonly string[];
}

/** A failure that others are compared with. */
interface Entry {
  readonly id: string;
  readonly parts: LikenessParts;
}

/**
 * The minimum score of similar failures. Below it, they only share words; docs/explanation/reading.md
 * explains how it was chosen.
 */
export const NEAR = 0.4;

const MAX_FRAMES = 5;
const MAX_LINES = 60;
const MAX_LINE = 300;
const MAX_TEXT = 2_000;
/** The maximum number of surrounding lines that are compared. */
const MAX_COMPARED = 80;
/**
 * The weight of each kind of feature. A test's name and whole lines count most, single words of the
 * surrounding lines least.
 */
const WEIGHTS = {
  test: 3,
  testWord: 0.7,
  message: 2,
  messageWord: 1,
  messagePair: 1,
  frame: 1.5,
  line: 1,
  lineWord: 0.3,
} as const;
const WORD = /<?[\p{L}_][\p{L}\p{N}_-]{1,60}/gu;

/** Extracts the parts that are compared from a failure. */
export function extractLikeness(
  failure: Pick<Failure, 'test' | 'message' | 'frames' | 'excerpt'>,
): LikenessParts {
  const { test, message, frames, excerpt } = failure;
  return {
    test: test === null ? null : [test.suite, test.name].filter(Boolean).join(' '),
    message: test === null ? message : (test.message ?? message),
    frames: frames
      .filter(({ own }) => own)
      .slice(0, MAX_FRAMES)
      .map(({ file, function: name }) => `${file.split(/[\\/]/).slice(-2).join('/')}:${name ?? ''}`),
    lines: excerpt?.text.split('\n') ?? [],
  };
}

/**
 * Builds the text that represents a failure wherever texts are compared: its message, an empty line, then its
 * other lines, each once, most informative first. Lines that only say that something ran are left out. The
 * test's name is not included, so that two tests that fail for the same reason are alike. The result is
 * masked if the parts are; at most 2,000 characters.
 */
export function buildLikenessText(parts: LikenessParts): string {
  const seen = new Set<string>();
  const keep = (lines: readonly string[]) => {
    const cut = lines.map((line) => stripEscapes(line).trim().slice(0, MAX_LINE));
    return cut.filter((line) => {
      const key = normalizeIdentity(line);
      return /\p{L}{3}/u.test(key) && !seen.has(key) && seen.add(key);
    });
  };
  const message = keep(parts.message?.split('\n') ?? []);
  const rest = keep(parts.lines.filter((line) => !SAYS_NOTHING.has(classifyRole(cleanLine(line)))));
  const left = Math.max(0, MAX_LINES - message.length);
  return [message.slice(0, MAX_LINES), rest.slice(0, left)]
    .map((lines) => lines.join('\n'))
    .filter((text) => text !== '')
    .join('\n\n')
    .slice(0, MAX_TEXT);
}

const SAYS_NOTHING: ReadonlySet<LineRole> = new Set(['blank', 'ending', 'echo', 'passing', 'progress']);

/**
 * Creates an index of failures by similarity: TF-IDF with the cosine of the angle (Salton & Buckley 1988),
 * over words, word pairs and whole lines, the test's name and own frames, each part with its own weight.
 * Exact: every entry that shares a feature is scored. Pure; the same entries in the same order give the same
 * scores. An id given twice counts as two entries.
 */
export function createNearMatchIndex(entries: readonly Entry[]) {
  const counted = entries.map(({ parts }) => listLikenessFeatures(parts));
  const postings = new Map<string, { readonly entry: number[]; readonly weight: number[] }>();
  for (const [entry, features] of counted.entries()) {
    for (const [feature, weight] of features) {
      const list = postings.get(feature) ?? { entry: [], weight: [] };
      if (list.entry.length === 0) postings.set(feature, list);
      list.entry.push(entry);
      list.weight.push(weight);
    }
  }
  const rarity = (feature: string) =>
    Math.log(1 + entries.length / Math.max(1, postings.get(feature)?.entry.length ?? 0));
  const lengths = counted.map((features) => computeLength(features, rarity));
  return {
    /**
     * Returns the `limit` nearest entries with at least `minScore`, best first. Entries with equal scores
     * keep their order. A score of 1 means the same text in every part.
     */
    search(
      parts: LikenessParts,
      limit: number,
      minScore = NEAR,
    ): { readonly id: string; readonly score: number }[] {
      const features = listLikenessFeatures(parts);
      const length = computeLength(features, rarity);
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
      const scores = products.map((product, entry) =>
        product === 0 ? 0 : Math.min(1, product / (length * (lengths[entry] ?? 1))),
      );
      const found = entries.map(({ id }, entry) => ({ id, score: scores[entry] ?? 0 }));
      const near = found.filter(({ score }) => score > 0 && score >= minScore);
      return near.sort((left, right) => right.score - left.score).slice(0, limit);
    },
  };
}

/**
 * Returns the features of a failure with their weights. Repeated features count less each time (1 + ln n).
 */
export function listLikenessFeatures(parts: LikenessParts): Map<string, number> {
  const features = new Map<string, number>();
  const counts = new Map<string, number>();
  const add = (feature: string, weight: number) => {
    const before = counts.get(feature) ?? 0;
    counts.set(feature, before + 1);
    features.set(feature, Math.max(features.get(feature) ?? 0, weight * (1 + Math.log(before + 1))));
  };
  if (parts.test !== null) {
    add(`t ${parts.test.toLowerCase().replace(/\d{5,}/g, '<n>')}`, WEIGHTS.test);
    for (const word of extractWords(parts.test)) add(`tw ${word}`, WEIGHTS.testWord);
  }
  for (const frame of parts.frames) add(`f ${frame}`, WEIGHTS.frame);
  for (const line of normalizeLines(parts.message ?? '')) {
    add(`l ${line}`, WEIGHTS.message);
    const lineWords = extractWords(line);
    for (const word of lineWords) add(`w ${word}`, WEIGHTS.messageWord);
    for (let at = 1; at < lineWords.length; at++)
      add(`p ${lineWords[at - 1]} ${lineWords[at]}`, WEIGHTS.messagePair);
  }
  for (const line of parts.lines.slice(0, MAX_COMPARED).flatMap(normalizeLines)) {
    add(`l ${line}`, WEIGHTS.line);
    for (const word of extractWords(line)) add(`w ${word}`, WEIGHTS.lineWord);
  }
  return features;
}

function normalizeLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => normalizeIdentity(line.slice(0, MAX_LINE)))
    .filter((line) => /\p{L}{2}/u.test(line));
}

/**
 * Extracts the words of a text in lower case; names made of several words are also split into their parts.
 */
function extractWords(text: string): string[] {
  const found: string[] = [];
  for (const [word] of text.matchAll(WORD)) {
    const parts = word.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').split(/[ _-]+/);
    found.push(word.toLowerCase());
    for (const part of parts) if (parts.length > 1 && part.length > 1) found.push(part.toLowerCase());
  }
  return found;
}

function computeLength(features: ReadonlyMap<string, number>, rarity: (feature: string) => number): number {
  let sum = 0;
  for (const [feature, weight] of features) sum += (weight * rarity(feature)) ** 2;
  return Math.sqrt(sum);
}
