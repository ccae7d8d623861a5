import type { Analysis } from '../domain/analysis.ts';

/**
 * Which of a build's causes a question is about: the one whose words it shares most, the category's name counting double; where none
 * is named, the one with the most failures, then the first. Null where there is none.
 */
export function chooseCause(question: string, analyses: readonly Analysis[]): Analysis | null {
  const asked = wordsOf(question);
  let best: { readonly analysis: Analysis; readonly score: number } | null = null;
  for (const analysis of analyses) {
    const score = shared(asked, analysis) + Math.min(analysis.failureIds.length, 1_000) / 10_000;
    if (best === null || score > best.score) best = { analysis, score };
  }
  return best?.analysis ?? null;
}

function shared(asked: ReadonlySet<string>, { answer, category, kind, evidence }: Analysis): number {
  const said = wordsOf([answer.title, answer.rootCause, kind, ...evidence.slice(0, 3).map(({ title }) => title)].join(' '));
  const named = wordsOf(category);
  return [...asked].reduce((sum, word) => sum + (named.has(word) ? 2 : 0) + (said.has(word) ? 1 : 0), 0);
}

/** Words of four letters or more; shorter ones are in every question. */
function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []);
}
