import type { ReplayedCase } from '../run/replay.ts';
import { isRight, judgedCases } from './judged.ts';

/** Whose probability: that of the classification, or that of the whole answer once it is verified, by which it is published. */
export type StatedBy = 'classification' | 'answer';

/** A case with the probability that was stated and whether its category was right. */
export interface StatedCase {
  readonly stated: number;
  readonly right: boolean;
  readonly one: ReplayedCase;
}

/** The cases whose category is labelled and for which a probability was stated; the surest first, the same ones always in one order. */
export function statementsOf(cases: readonly ReplayedCase[], of: StatedBy): StatedCase[] {
  const stated = judgedCases(cases).flatMap((entry): StatedCase[] => {
    const { confidence, answerConfidence } = entry.one.result;
    const probability = of === 'classification' ? confidence : answerConfidence;
    return probability === null ? [] : [{ stated: probability, right: isRight(entry), one: entry.one }];
  });
  return stated.sort((left, right) => right.stated - left.stated || (left.one.result.id < right.one.result.id ? -1 : 1));
}
