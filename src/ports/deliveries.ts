import type { Sql } from './database.ts';

/** A delivery by its sender and the sender's id. */
export interface DeliveryKey {
  readonly source: string;
  readonly deliveryId: string;
}

/** `landed`: durable, and waiting for the processor. `recorded`: its build is kept. `refused`: set aside after too many tries, for people. */
export type DeliveryState = 'landed' | 'recorded' | 'refused';

/** A delivery on its way in. */
export interface ReceivedDelivery extends DeliveryKey {
  readonly event: string;
  readonly bodySha256: string;
  /** What it says, in the shape of its route; JSON. Kept until it is recorded. */
  readonly intake: object;
}

/** A delivery that the processor has taken. */
export interface LandedDelivery extends DeliveryKey {
  readonly event: string;
  readonly intake: unknown;
  /** Tries that failed with something that does not pass by itself. */
  readonly attempts: number;
}

export interface KeptDelivery {
  readonly event: string;
  readonly bodySha256: string;
  readonly buildId: string | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly receivedAt: string;
}

/** What the processor has still to do, and what it could not do. */
export interface DeliveryBacklog {
  readonly landed: number;
  /** How long the oldest landed one has waited, in milliseconds; null where none waits. */
  readonly oldestMs: number | null;
  readonly refused: number;
  /** Why the newest refused one was set aside. */
  readonly refusal: string | null;
}

export interface DeliveryStore {
  /** Keeps a delivery, with its build or none, by the sender's id. `false`: this id was already kept (nothing changes). */
  insertOnce(
    delivery: { source: string; deliveryId: string; event: string; bodySha256: string; buildId: string | null },
    sql?: Sql,
  ): Promise<boolean>;
  /** What was kept under the sender's id, so that a second delivery gets the first one's answer. */
  find(source: string, deliveryId: string, sql?: Sql): Promise<KeptDelivery | null>;
  /**
   * Keeps deliveries as landed, all of them in one statement. Says of each, in their order, whether it is new; `false`: its
   * id was already kept (nothing changes). No two may bear the same id. One that the database refuses fails all.
   */
  land(deliveries: readonly ReceivedDelivery[]): Promise<readonly boolean[]>;
  /** Lands a refused delivery once more; `false` where it is not refused. */
  landAgain(delivery: ReceivedDelivery): Promise<boolean>;
  /** Landed deliveries that are due and came `olderThanMs` ago or earlier; oldest first. */
  landed(olderThanMs: number, limit: number): Promise<readonly DeliveryKey[]>;
  /** Takes a landed delivery until the transaction of `sql` ends; null where it is not due, not landed, or somebody else's. */
  takeLanded(key: DeliveryKey, sql: Sql): Promise<LandedDelivery | null>;
  /** Ends a taken delivery with its build, in the transaction that took it; `false` where it is not landed any more. */
  markRecorded(key: DeliveryKey, buildId: string, sql: Sql): Promise<boolean>;
  /** Leaves a landed delivery alone for `delayMs`, or sets it aside for good; changes nothing where others have tried more often. */
  putOff(
    key: DeliveryKey,
    how: { readonly error: string; readonly delayMs: number; readonly attempts: number; readonly refuse: boolean },
  ): Promise<boolean>;
  backlog(): Promise<DeliveryBacklog>;
}
