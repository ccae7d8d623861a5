import type { Analysis } from '../../domain/analysis.ts';

/**
 * Chooses the cause that a question is about: the one that shares the most words with it, with the category's
 * name counting double. If none is named, the one with the most failures, then the first. Returns null if
 * there is none.
 */
export function chooseCause(question: string, analyses: readonly Analysis[]): Analysis | null {
  const asked = extractWords(question);
  let best: { readonly analysis: Analysis; readonly score: number } | null = null;
  for (const analysis of analyses) {
    const score = countShared(asked, analysis) + Math.min(analysis.failureIds.length, 1_000) / 10_000;
    if (best === null || score > best.score) best = { analysis, score };
  }
  return best?.analysis ?? null;
}

function countShared(asked: ReadonlySet<string>, { answer, category, kind, evidence }: Analysis): number {
  const causeWords = extractWords(
    [answer.title, answer.rootCause, kind, ...evidence.slice(0, 3).map(({ title }) => title)].join(' '),
  );
  const named = extractWords(category);
  return [...asked].reduce(
    (sum, word) => sum + (named.has(word) ? 2 : 0) + (causeWords.has(word) ? 1 : 0),
    0,
  );
}

/** Extracts words of four letters or more, because shorter ones occur in every question. */
function extractWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []);
}

/** The number of turns that are remembered in full. */
export const WHOLE = 4;
