import type { OutwardAct } from '../domain/outward-act.ts';
import type { Sql } from './database.ts';

/** How an act ended. */
export type ActEnd =
  | { readonly state: 'done'; readonly reference: string | null }
  | { readonly state: 'failed' | 'superseded'; readonly error: string };

/** What is owed to the world outside. Leases are judged by the database's clock. */
export interface ActStore {
  /** Records that each of these publishers owes the analysis to its readers; once each. Call inside the transaction that saves the analysis. */
  owe(of: { readonly publishers: readonly string[]; readonly buildId: string; readonly analysisId: string }, sql?: Sql): Promise<void>;
  /** Takes the act that has waited longest for one of these publishers, for `leaseMs`; null where none is owed now. */
  take(publishers: readonly string[], leaseMs: number): Promise<OutwardAct | null>;
  /** Why it must not be told any more: a person has said otherwise since, or the build has passed. Null: it is still to be told. */
  obsolete(act: OutwardAct): Promise<string | null>;
  /** Ends the act. `false` where the lease is stale: nothing changes. */
  finish(act: OutwardAct, end: ActEnd): Promise<boolean>;
  /** Gives the act back, to be left alone for `delayMs`; with 0 the try does not count. A stale lease changes nothing. */
  release(act: OutwardAct, error: string, delayMs: number): Promise<void>;
  /** Gives back every started act, and says how many; only for a database that no other process can have open. */
  reclaim(): Promise<number>;
  listByBuild(buildId: string): Promise<OutwardAct[]>;
}
