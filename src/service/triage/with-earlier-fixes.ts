import { type Analysis, isJudged } from '../../domain/analysis.ts';
import type { FixedFailure } from '../../domain/graded.ts';
import { findMax } from '../../lib/collections.ts';
import { describeEarlierFix } from '../../notifications/resolution-words.ts';

/** The name of the source of evidence about fixes of earlier failures. */
const TOOL = 'mended_before';

/**
 * Adds the fixes of similar earlier failures to an answer, as a claim with their builds as evidence. It is
 * only a suggestion: no person has confirmed it, and it changes neither the category nor the confidence.
 */
export function withEarlierFixes(analysis: Analysis, fixes: readonly FixedFailure[]): Analysis {
  const offered = describeEarlierFix(fixes);
  if (offered === null || !isJudged(analysis)) return analysis;
  const numbers = analysis.evidence.map(({ id }) => Number(id.slice(1)));
  const id = `E${findMax(numbers, 0) + 1}`;
  const lines = fixes.map(
    ({ pipeline, number, at, files, commit }) =>
      `${pipeline} #${number}, ${at.slice(0, 10)}: ${files.join(', ')}` +
      `${commit === null ? '' : ` (${commit})`}`,
  );
  const title = 'What fixed it before';
  const evidence = { id, tool: TOOL, title, text: lines.join('\n'), source: TOOL };
  const claim = { text: offered.text, evidence: [id], quotes: [] };
  return {
    ...analysis,
    evidence: [...analysis.evidence, evidence],
    answer: { ...analysis.answer, claims: [...analysis.answer.claims, claim] },
  };
}
