import { BUCKETS } from '../../../src/log/rank/features.ts';

/** Lines for training: the buckets of each, whether it states the cause, and its weight. */
export interface WordRows {
  readonly buckets: readonly (readonly number[])[];
  readonly labels: Uint8Array;
  readonly weights: Float32Array;
}

/** The weights of a logistic regression on hashed words, as signed bytes with one scale. */
export interface WordWeights {
  readonly wordScale: number;
  readonly wordWeights: Int8Array;
}

const EPOCHS = 4;
const RATE = 0.3;
/** The L2 penalty per step, so that words of few logs get low weights. */
const DECAY = 2e-4;

/** Fits by AdaGrad in a fixed order, so that the same rows always give the same bytes. */
export function fitWords({ buckets, labels, weights }: WordRows, order: readonly number[]): WordWeights {
  const values = new Float64Array(BUCKETS);
  const squares = new Float64Array(BUCKETS).fill(1);
  let bias = 0;
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (const row of order) {
      const own = buckets[row] ?? [];
      const norm = 1 / Math.sqrt(Math.max(4, own.length));
      let sum = bias;
      for (const bucket of own) sum += (values[bucket] ?? 0) * norm;
      const slope = ((labels[row] ?? 0) - 1 / (1 + Math.exp(-sum))) * (weights[row] ?? 0);
      bias += 0.01 * slope;
      for (const bucket of own) {
        const step = slope * norm - DECAY * (values[bucket] ?? 0);
        squares[bucket] = (squares[bucket] ?? 0) + step * step;
        values[bucket] = (values[bucket] ?? 0) + (RATE * step) / Math.sqrt(squares[bucket] ?? 1);
      }
    }
  }
  return quantizeWeights(values);
}

function quantizeWeights(values: Float64Array): WordWeights {
  let most = 1e-9;
  for (const value of values) most = Math.max(most, Math.abs(value));
  const wordScale = Number((most / 127).toPrecision(6));
  return { wordScale, wordWeights: Int8Array.from(values, (value) => Math.round(value / wordScale)) };
}
