import type { IndexNamespace } from '../domain/work.ts';

/**
 * The namespace of an index. Curated documents, a team's own documents and decided failures never share one.
 */
export type VectorNamespace = IndexNamespace;

export interface VectorItem {
  readonly id: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
}

export interface VectorMatch extends VectorItem {
  /** The similarity from 0 to 1: the cosine, relative to that of unrelated texts with this embedder. */
  readonly score: number;
}

/** An index of texts by meaning. The adapter embeds texts with the embedder that it was created with. */
export interface VectorIndex {
  readonly driver: string;
  upsert(namespace: VectorNamespace, items: readonly VectorItem[], signal?: AbortSignal): Promise<void>;
  /**
   * Returns the nearest items, best first. `filter` keeps the items whose metadata equals every given field.
   */
  search(
    namespace: VectorNamespace,
    query: {
      readonly text: string;
      readonly limit: number;
      readonly filter?: Readonly<Record<string, string>>;
    },
    signal?: AbortSignal,
  ): Promise<VectorMatch[]>;
  /** Lists the ids and metadata of every item, in any order, for comparison by a loader. At most 100,000. */
  list(namespace: VectorNamespace): Promise<Pick<VectorItem, 'id' | 'metadata'>[]>;
  remove(namespace: VectorNamespace, ids: readonly string[]): Promise<void>;
  count(namespace: VectorNamespace): Promise<number>;
}

/** An index whose embedder is a model, which may fail, cost money, and be replaced by another one. */
export interface SemanticIndex extends VectorIndex {
  /** The name of the embedder. */
  readonly embedder: string;
  /** Removes all vectors of models: of this one and of earlier ones. */
  clear(): Promise<void>;
}

/** Turns texts into vectors of equal length, each with Euclidean length 1. */
export interface Embedder {
  /** The name of the embedder. Vectors of embedders with different names cannot be compared. */
  readonly name: string;
  /** The number of elements of a vector; null until a server has reported it. */
  readonly dimensions: number | null;
  /** Embeds all texts, or none of them if one fails. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  /** Returns the cosine that this embedder gives to unrelated texts. 0 if absent. */
  unrelated?(signal?: AbortSignal): Promise<number>;
}
