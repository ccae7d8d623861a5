import type { Database } from '../ports/database.ts';
import type { DeliveryBacklog, DeliveryKey, DeliveryStore, KeptDelivery, LandedDelivery } from '../ports/deliveries.ts';

export function createDeliveryStore(db: Database): DeliveryStore {
  return {
    insertOnce: async ({ source, deliveryId, event, bodySha256, buildId }, sql = db) => {
      const kept = await sql.query(
        `insert into deliveries (source, delivery_id, event, body_sha256, build_id) values ($1, $2, $3, $4, $5)
         on conflict (source, delivery_id) do nothing returning delivery_id`,
        [source, deliveryId, event, bodySha256, buildId],
      );
      return kept.length > 0;
    },
    find: async (source, deliveryId, sql = db) => (await sql.query<KeptDelivery>(FIND, [source, deliveryId]))[0] ?? null,
    ...inboxMethods(db),
    backlog: async () => {
      const [row] = await db.query<DeliveryBacklog>(BACKLOG);
      return row ?? { landed: 0, oldestMs: null, refused: 0, refusal: null };
    },
  };
}

type InboxMethods = Pick<DeliveryStore, 'land' | 'landAgain' | 'landed' | 'takeLanded' | 'markRecorded' | 'putOff'>;

function inboxMethods(db: Database): InboxMethods {
  return {
    land: async (deliveries) => {
      const rows = deliveries.map((one) => ({
        ...{ source: one.source, delivery_id: one.deliveryId, event: one.event, body_sha256: one.bodySha256, intake: one.intake },
      }));
      // Two processes that land the same ids at once wait for each other in one order.
      rows.sort((left, right) => compare(left.source, right.source) || compare(left.delivery_id, right.delivery_id));
      const kept = await db.query<DeliveryKey>(LAND, [{ deliveries: rows }]);
      const fresh = new Set(kept.map(keyOf));
      return deliveries.map((one) => fresh.has(keyOf(one)));
    },
    landAgain: async ({ source, deliveryId, intake }) => (await db.query(LAND_AGAIN, [source, deliveryId, intake])).length > 0,
    landed: async (olderThanMs, limit) => await db.query<DeliveryKey>(LANDED, [olderThanMs, limit]),
    takeLanded: async ({ source, deliveryId }, sql) => (await sql.query<LandedDelivery>(TAKE, [source, deliveryId]))[0] ?? null,
    markRecorded: async ({ source, deliveryId }, buildId, sql) =>
      (await sql.query(MARK_RECORDED, [source, deliveryId, buildId])).length > 0,
    putOff: async ({ source, deliveryId }, { error, delayMs, attempts, refuse }) => {
      const values = [source, deliveryId, error, delayMs, attempts, refuse ? 'refused' : 'landed'];
      return (await db.query(PUT_OFF, values)).length > 0;
    },
  };
}

function keyOf({ source, deliveryId }: DeliveryKey): string {
  return `${source} ${deliveryId}`;
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

const FIND = `
  select event, body_sha256 as "bodySha256", build_id as "buildId", state, attempts, received_at as "receivedAt"
  from deliveries where source = $1 and delivery_id = $2`;

const LAND = `
  insert into deliveries (source, delivery_id, event, body_sha256, intake, state)
  select d.source, d.delivery_id, d.event, d.body_sha256, d.intake, 'landed'
  from jsonb_to_recordset($1::jsonb -> 'deliveries') as d (source text, delivery_id text, event text, body_sha256 text, intake jsonb)
  on conflict (source, delivery_id) do nothing
  returning source, delivery_id as "deliveryId"`;

const LAND_AGAIN = `
  update deliveries set state = 'landed', intake = $3::jsonb, attempts = 0, not_before = null, error = null
  where source = $1 and delivery_id = $2 and state = 'refused' returning source`;

/** It is not, or no longer, to be left alone. */
const DUE = '(not_before is null or not_before <= clock_timestamp())';

const LANDED = `
  select source, delivery_id as "deliveryId" from deliveries
  where state = 'landed' and ${DUE} and received_at <= clock_timestamp() - $1::float8 * interval '1 millisecond'
  order by received_at limit $2`;

const TAKE = `
  select source, delivery_id as "deliveryId", event, intake, attempts from deliveries
  where source = $1 and delivery_id = $2 and state = 'landed' and ${DUE} for update skip locked`;

const MARK_RECORDED = `
  update deliveries set state = 'recorded', build_id = $3, intake = null, not_before = null, error = null
  where source = $1 and delivery_id = $2 and state = 'landed' returning source`;

// Whoever tried meanwhile counted on: the count is the fence.
const PUT_OFF = `
  update deliveries set state = $6, attempts = $5::int, error = $3, not_before = clock_timestamp() + $4::float8 * interval '1 millisecond'
  where source = $1 and delivery_id = $2 and state = 'landed' and attempts <= $5::int returning source`;

const BACKLOG = `
  select
    (select count(*)::int from deliveries where state = 'landed') as landed,
    (select extract(epoch from clock_timestamp() - min(received_at))::float8 * 1000 from deliveries where state = 'landed') as "oldestMs",
    (select count(*)::int from deliveries where state = 'refused') as refused,
    (select error from deliveries where state = 'refused' order by received_at desc limit 1) as refusal`;
