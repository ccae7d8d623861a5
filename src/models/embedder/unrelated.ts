/** Lines and passages as they are compared, about things that have nothing to do with each other: from here likeness is measured. */
export const UNRELATED: readonly string[] = [
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

/** Over all pairs of vectors of length 1; never below 0. */
export function meanCosine(vectors: readonly Float32Array[]): number {
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
