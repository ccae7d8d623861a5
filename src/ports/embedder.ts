/** Turns texts into vectors of equal length, each with Euclidean length 1. */
export interface Embedder {
  /** Vectors of embedders with different names cannot be compared. */
  readonly name: string;
  /** How many numbers a vector has; null until a server said so. */
  readonly dimensions: number | null;
  /** All texts or none. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  /** The cosine that texts have which have nothing to do with each other; absent: 0. */
  unrelated?(signal?: AbortSignal): Promise<number>;
}
