import type { Sql } from './database.ts';

/** Curated documents, a team's own documents and decided failures never share a namespace. */
export type VectorNamespace = 'knowledge' | 'team_knowledge' | 'error_library';

export interface VectorItem {
  readonly id: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
}

export interface VectorMatch extends VectorItem {
  /** Likeness, 0..1: the cosine, measured from what the embedder gives to unrelated texts. */
  readonly score: number;
}

/** Texts by meaning. The adapter embeds with the embedder it was made with. */
export interface VectorIndex {
  readonly driver: string;
  upsert(namespace: VectorNamespace, items: readonly VectorItem[], signal?: AbortSignal): Promise<void>;
  /** Nearest items, best first. `filter` keeps items whose metadata equals every given field. */
  search(
    namespace: VectorNamespace,
    query: { readonly text: string; readonly limit: number; readonly filter?: Readonly<Record<string, string>> },
    signal?: AbortSignal,
  ): Promise<VectorMatch[]>;
  /** Ids and metadata of every item, in any order: what a loader compares with. At most 100,000. */
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
  /** How many numbers a vector has; null until a server said so. */
  readonly dimensions: number | null;
  /** All texts or none. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  /** The cosine that texts have which have nothing to do with each other; absent: 0. */
  unrelated?(signal?: AbortSignal): Promise<number>;
}

/** One item that the index does not have yet, or still has. */
export interface OwedVector {
  readonly namespace: VectorNamespace;
  readonly id: string;
  /** Null: the item is to be taken out. */
  readonly item: Pick<VectorItem, 'text' | 'metadata'> | null;
}

/** A debt that is being paid; held by whoever took it, for as long as its lease is the newest. */
export interface VectorDebt extends OwedVector {
  /** This try included. */
  readonly attempts: number;
  readonly version: number;
  readonly lease: number;
}

/** What the vector index is owed. Whatever is learned is owed in the transaction that learns it, and paid as soon as the index takes it. */
export interface VectorDebtStore {
  /** Keeps the debts. What was owed under the same id before is owed no more; the tries begin anew. */
  owe(debts: readonly OwedVector[], sql?: Sql): Promise<void>;
  /** Takes at most `limit` debts that nobody holds and that need not be left alone, oldest first, for `leaseMs`. */
  take(limit: number, leaseMs: number): Promise<VectorDebt[]>;
  /** Takes these debts, whether or not they should be left alone; not those that somebody holds. */
  takeThese(namespace: VectorNamespace, ids: readonly string[], leaseMs: number): Promise<VectorDebt[]>;
  /** The debt is paid. Where something else is owed by now, or the lease was lost, that stays owed. */
  settle(debt: VectorDebt): Promise<void>;
  /** Gives a debt back, to be left alone for `delayMs`. A stale lease changes nothing. */
  release(debt: VectorDebt, error: string, delayMs: number): Promise<void>;
  /** Gives back every debt that is held; only for a database that no other process can have open. */
  reclaim(): Promise<number>;
  /** How many are owed, and since when the oldest is: null where none is. */
  waiting(): Promise<{ readonly count: number; readonly since: string | null }>;
}
