import type { Database, Sql } from '../ports/database.ts';
import { fromNow } from './sql.ts';

/** A delivery by its sender and the sender's id. */
export interface DeliveryKey {
  readonly source: string;
  readonly deliveryId: string;
}

/**
 * The state of a delivery: stored and waiting for the processor, recorded with its build, or refused after
 * too many attempts and left to a person.
 */
export type DeliveryState = 'landed' | 'recorded' | 'refused';

/** A delivery that was just received. */
export interface ReceivedDelivery extends DeliveryKey {
  readonly event: string;
  readonly bodySha256: string;
  /** The content in the form of its route, as JSON. It is kept until the delivery is recorded. */
  readonly intake: object;
}

/** A delivery that the processor has taken. */
export interface LandedDelivery extends DeliveryKey {
  readonly event: string;
  readonly intake: unknown;
  /** The number of attempts that failed with a permanent error. */
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

/** The numbers of deliveries that wait for the processor, and of those that it could not record. */
export interface DeliveryBacklog {
  readonly landed: number;
  /** The number of milliseconds that the oldest pending delivery has waited; null if there is none. */
  readonly oldestMs: number | null;
  readonly refused: number;
  /** The reason why the newest refused delivery was refused. */
  readonly refusal: string | null;
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

export function createDeliveryStore(db: Database) {
  return {
    /**
     * Stores a delivery, with its build or none, by the sender's id. Returns `false` and changes nothing if
     * this id is already stored.
     */
    insertOnce: async (
      {
        source,
        deliveryId,
        event,
        bodySha256,
        buildId,
      }: { source: string; deliveryId: string; event: string; bodySha256: string; buildId: string | null },
      sql: Sql = db,
    ) => {
      const kept = await sql.query(
        `insert into deliveries (source, delivery_id, event, body_sha256, build_id)
          values ($1, $2, $3, $4, $5)
         on conflict (source, delivery_id) do nothing returning delivery_id`,
        [source, deliveryId, event, bodySha256, buildId],
      );
      return kept.length > 0;
    },
    /**
     * Finds the delivery that is stored under the sender's id, so that a second delivery gets the same answer
     * as the first.
     */
    find: async (source: string, deliveryId: string, sql: Sql = db) =>
      (await sql.query<KeptDelivery>(FIND, [source, deliveryId]))[0] ?? null,
    ...createInboxMethods(db),
    backlog: async () => {
      const [row] = await db.query<DeliveryBacklog>(BACKLOG);
      return row ?? { landed: 0, oldestMs: null, refused: 0, refusal: null };
    },
  };
}

function createInboxMethods(db: Database) {
  return {
    /**
     * Stores deliveries as pending, all in one statement. Returns for each, in order, whether it is new;
     * `false` means that its id was already stored (nothing changes). Two deliveries must not have the same
     * id. If the database refuses one, all fail.
     */
    store: async (deliveries: readonly ReceivedDelivery[]) => {
      const rows = deliveries.map((delivery) => ({
        source: delivery.source,
        delivery_id: delivery.deliveryId,
        event: delivery.event,
        body_sha256: delivery.bodySha256,
        intake: delivery.intake,
      }));
      // Sorting makes processes that store the same ids lock them in the same order.
      rows.sort(
        (left, right) => compare(left.source, right.source) || compare(left.delivery_id, right.delivery_id),
      );
      const kept = await db.query<DeliveryKey>(LAND, [{ deliveries: rows }]);
      const fresh = new Set(kept.map(formatKey));
      return deliveries.map((delivery) => fresh.has(formatKey(delivery)));
    },
    /** Makes a refused delivery pending again. Returns `false` if it is not refused. */
    requeue: async ({ source, deliveryId, intake }: ReceivedDelivery) =>
      (await db.query(LAND_AGAIN, [source, deliveryId, intake])).length > 0,
    /** Lists pending deliveries that are due and arrived `olderThanMs` ago or earlier; oldest first. */
    listPending: async (olderThanMs: number, limit: number) =>
      await db.query<DeliveryKey>(LANDED, [olderThanMs, limit]),
    /** Reads a pending delivery without locking it. Returns null if it is not due, or no longer pending. */
    read: async ({ source, deliveryId }: DeliveryKey) =>
      (await db.query<LandedDelivery>(READ, [source, deliveryId]))[0] ?? null,
    /**
     * Locks a pending delivery until the transaction of `sql` ends. Returns null if it is not due, no longer
     * pending, or locked by another process.
     */
    claim: async ({ source, deliveryId }: DeliveryKey, sql: Sql) =>
      (await sql.query<LandedDelivery>(TAKE, [source, deliveryId]))[0] ?? null,
    /**
     * Records a locked delivery with its build, in the transaction that locked it. Returns `false` if it is
     * no longer pending.
     */
    markRecorded: async ({ source, deliveryId }: DeliveryKey, buildId: string, sql: Sql) =>
      (await sql.query(MARK_RECORDED, [source, deliveryId, buildId])).length > 0,
    /**
     * Postpones a pending delivery by `delayMs`, or refuses it permanently. Changes nothing if another
     * process has made more attempts.
     */
    postpone: async (
      { source, deliveryId }: DeliveryKey,
      {
        error,
        delayMs,
        attempts,
        refuse,
      }: {
        readonly error: string;
        readonly delayMs: number;
        readonly attempts: number;
        readonly refuse: boolean;
      },
    ) => {
      const values = [source, deliveryId, error, delayMs, attempts, refuse ? 'refused' : 'landed'];
      return (await db.query(PUT_OFF, values)).length > 0;
    },
  };
}

function formatKey({ source, deliveryId }: DeliveryKey): string {
  return `${source} ${deliveryId}`;
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

const FIND = `
  select event, body_sha256 as "bodySha256", build_id as "buildId", state, attempts,
    received_at as "receivedAt"
  from deliveries where source = $1 and delivery_id = $2`;

const LAND = `
  insert into deliveries (source, delivery_id, event, body_sha256, intake, state)
  select d.source, d.delivery_id, d.event, d.body_sha256, d.intake, 'landed'
  from jsonb_to_recordset($1::jsonb -> 'deliveries') as d (source text, delivery_id text, event text,
    body_sha256 text, intake jsonb)
  on conflict (source, delivery_id) do nothing
  returning source, delivery_id as "deliveryId"`;

const LAND_AGAIN = `
  update deliveries set state = 'landed', intake = $3::jsonb, attempts = 0, not_before = null, error = null
  where source = $1 and delivery_id = $2 and state = 'refused' returning source`;

/** The delivery is not postponed, or no longer. */
const DUE = '(not_before is null or not_before <= clock_timestamp())';

const LANDED = `
  select source, delivery_id as "deliveryId" from deliveries
  where state = 'landed' and ${DUE}
    and received_at <= clock_timestamp() - $1::float8 * interval '1 millisecond'
  order by received_at limit $2`;

const READ = `
  select source, delivery_id as "deliveryId", event, intake, attempts from deliveries
  where source = $1 and delivery_id = $2 and state = 'landed' and ${DUE}`;

const TAKE = `${READ} for update skip locked`;

const MARK_RECORDED = `
  update deliveries set state = 'recorded', build_id = $3, intake = null, not_before = null, error = null
  where source = $1 and delivery_id = $2 and state = 'landed' returning source`;

// The attempt count is a fencing token: a newer attempt wins.
const PUT_OFF = `
  update deliveries set state = $6, attempts = $5::int, error = $3, not_before = ${fromNow('$4')}
  where source = $1 and delivery_id = $2 and state = 'landed' and attempts <= $5::int returning source`;

const BACKLOG = `
  select
    (select count(*)::int from deliveries where state = 'landed') as landed,
    (select extract(epoch from clock_timestamp() - min(received_at))::float8 * 1000 from deliveries
      where state = 'landed') as "oldestMs",
    (select count(*)::int from deliveries where state = 'refused') as refused,
    (select error from deliveries where state = 'refused' order by received_at desc limit 1) as refusal`;
