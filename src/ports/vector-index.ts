import type { IndexNamespace } from '../domain/work.ts';

/** Curated documents, a team's own documents and decided failures never share a namespace. */
export type VectorNamespace = IndexNamespace;

export interface VectorItem {
  readonly id: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
}

export interface VectorMatch extends VectorItem {
  /** The similarity, 0..1: the cosine, relative to that of unrelated texts with this embedder. */
  readonly score: number;
}

/** Texts by meaning. The adapter embeds with the embedder it was made with. */
export interface VectorIndex {
  readonly driver: string;
  upsert(namespace: VectorNamespace, items: readonly VectorItem[], signal?: AbortSignal): Promise<void>;
  /** Returns the nearest items, best first. `filter` keeps items whose metadata equals every given field. */
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

/** An index whose embedder is a model: it may fail, cost money, and be exchanged for another one. */
export interface SemanticIndex extends VectorIndex {
  /** Name of the embedder. */
  readonly embedder: string;
  /** Forgets what models embedded, this one and those before it. */
  clear(): Promise<void>;
}

/** Turns texts into vectors of equal length, each with Euclidean length 1. */
export interface Embedder {
  /** Vectors of embedders with different names cannot be compared. */
  readonly name: string;
  /** The number of elements of a vector; null until a server has reported it. */
  readonly dimensions: number | null;
  /** Embeds all texts, or none of them if one fails. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  /** Returns the cosine that this embedder gives to unrelated texts; absent: 0. */
  unrelated?(signal?: AbortSignal): Promise<number>;
}
