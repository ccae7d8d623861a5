import type { ReplayedCase } from '../run/replay.ts';
import { meanFigure } from './clusters.ts';
import { caseShare, type Figure, mean } from './figure.ts';
import { mentionFinder } from './words.ts';

/**
 * Whether the explanation, root cause and advice together, says the words that its label requires, and none that only a wrong one would say. An
 * answer that failed says nothing. Empty where no case names such words, or nothing was answered.
 */
export function scoreMentions(cases: readonly ReplayedCase[]): Figure[] {
  return [...scoreRequired(cases), ...scoreForbidden(cases)];
}

function scoreRequired(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = saidShares(cases, (one) => one.row?.required_mentions ?? []);
  if (labelled.length === 0) return [];
  return [
    meanFigure('required mentions said', labelled, ({ share }) => share, 1),
    caseShare('answers with every required mention', labelled, ({ share }) => share === 1),
    caseShare('answers with a required mention', labelled, ({ share }) => share > 0),
  ];
}

function scoreForbidden(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = saidShares(cases, (one) => one.row?.forbidden_mentions ?? []);
  return labelled.length === 0 ? [] : [caseShare('answers with a forbidden mention', labelled, ({ share }) => share > 0, 'bad')];
}

/** The share of its mentions that each explanation says. */
function saidShares(cases: readonly ReplayedCase[], mentionsOf: (one: ReplayedCase) => readonly string[]) {
  const labelled = cases.filter((one) => mentionsOf(one).length > 0);
  if (!labelled.some((one) => one.result.action !== null)) return [];
  return labelled.map((one) => {
    const isSaid = mentionFinder(`${one.result.rootCause ?? ''}\n${one.result.fixRecommendation ?? ''}`);
    return { one, share: mean(mentionsOf(one).map((mention) => Number(isSaid(mention)))) };
  });
}
