/** Turns texts into vectors of `dimensions` numbers with Euclidean length 1. */
export interface Embedder {
  readonly name: string;
  readonly dimensions: number;
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}
