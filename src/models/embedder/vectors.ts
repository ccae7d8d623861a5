import type { Embedder } from '../../ports/vector-index.ts';

/**
 * Lines and passages about unrelated subjects. Their mean similarity is the one that a model assigns to
 * unrelated texts.
 */
const UNRELATED: readonly string[] = [
  'npm ERR! ERESOLVE could not resolve: peer react@"^17" is wanted, react@18.2.0 was found',
  'java.lang.OutOfMemoryError: Java heap space while indexing the product catalogue',
  'AssertionError: expected the invoice total to be 10.20 but it was 10.21',
  'The certificate of the artifact mirror expired; rotate it on the load balancer and restart the proxy.',
  'Timed out after 30 s waiting for the button "Pay now" to become visible',
  'error TS2304: Cannot find name "customerId"',
  'No space left on device while the layer cache was written; prune old images on the agent.',
  'permission denied (publickey): the deploy key of the pipeline may not read the submodule',
  'ruff: E501 line too long, 2 files would be reformatted',
  'terraform: a resource with this ID already exists and must be imported into the state',
];

/**
 * Creates a function that measures the similarity that this model assigns to unrelated texts. It is measured
 * once.
 */
export function createUnrelatedMeasure(embed: Embedder['embed']): NonNullable<Embedder['unrelated']> {
  let floor: number | null = null;
  return async (signal) => {
    floor ??= computeMeanCosine(await embed(UNRELATED, signal));
    return floor;
  };
}

/** Scales a vector to length 1. The zero vector becomes the first unit vector. */
export function toUnitVector(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (sum === 0) return Float32Array.from(vector, (_, place) => (place === 0 ? 1 : 0));
  const length = Math.sqrt(sum);
  return vector.map((value) => value / length);
}

/** Computes the mean cosine of all pairs of unit vectors. It is never below 0. */
function computeMeanCosine(vectors: readonly Float32Array[]): number {
  let sum = 0;
  let pairs = 0;
  for (const [index, left] of vectors.entries()) {
    for (const right of vectors.slice(index + 1)) {
      sum += left.reduce((dot, value, place) => dot + value * (right[place] ?? 0), 0);
      pairs += 1;
    }
  }
  return pairs === 0 ? 0 : Math.max(0, sum / pairs);
}
