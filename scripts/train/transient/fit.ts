import type { Classification } from '../../../src/domain/analysis.ts';
import { TRANSIENT_SIGNS, toProbability, weighSigns } from '../../../src/judge/transient.ts';

/** A failed job for which it is known whether a rerun would pass. */
export interface TransientLesson {
  readonly id: string;
  /** The data set, such as "actions/actions". */
  readonly set: string;
  readonly project: string;
  readonly passes: boolean;
  readonly weight: number;
  /** The values of TRANSIENT_SIGNS. */
  readonly signs: readonly number[];
  readonly told: Classification;
}

/**
 * The initial weight of each sign in logits. They were set by hand, because few jobs are labeled and nearly
 * all that pass belong to one project. Training pulls weights towards these.
 */
const PRIORS: Readonly<Record<string, number>> = {
  always: -3.2,
  'connection or service': 4.5,
  'runner lost': 5,
  'time limit': 3,
  'timing of a test': 4,
  'machine full': 1.5,
  'words of a broken connection': 3.5,
  'words of a lost runner': 2.5,
  'words of a full disk': 0.8,
  'words of a damaged working copy': 3.5,
  'words of a crashed compiler': 3.2,
  'leading rule is for infrastructure': 1.5,
  'rule for another cause': -0.8,
  'step of the CI system': 0.5,
  'ended by a signal': 0.3,
  'a test passed when it was run again': 0,
  'failing test': -1.5,
  assertion: -1,
  'error in a file': -1,
  'exception of ours': -1,
  'nothing tells': 0.5,
};

/**
 * The number of passes over all examples, the learning rate, and the strength with which each weight is
 * pulled to its initial value.
 */
const [EPOCHS, RATE, PULL] = [600, 0.1, 0.02];

/**
 * Fits a logistic regression with all examples at once, so that the same examples always give the same
 * numbers.
 */
export function fitTransient(lessons: readonly TransientLesson[]): number[] {
  const priors = TRANSIENT_SIGNS.map((sign) => PRIORS[sign] ?? 0);
  const weights = Float64Array.from(priors);
  const squares = new Float64Array(weights.length).fill(1e-6);
  const total = lessons.reduce((sum, { weight }) => sum + weight, 0);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const slopes = new Float64Array(weights.length);
    for (const { signs, passes, weight } of lessons) {
      const off = (toProbability(weighSigns(signs, weights)) - Number(passes)) * weight;
      for (const [i, sign] of signs.entries()) slopes[i] = (slopes[i] ?? 0) + off * sign;
    }
    for (const [i, slope] of slopes.entries()) {
      const gradient = slope / total + PULL * ((weights[i] ?? 0) - (priors[i] ?? 0));
      squares[i] = (squares[i] ?? 0) + gradient * gradient;
      weights[i] = (weights[i] ?? 0) - (RATE * gradient) / Math.sqrt(squares[i] ?? 1);
    }
  }
  return Array.from(weights, (weight) => Math.round(weight * 1e4) / 1e4);
}
