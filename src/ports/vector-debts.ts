import type { Sql } from './database.ts';
import type { VectorItem, VectorNamespace } from './vector-index.ts';

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
