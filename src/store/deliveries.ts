import type { Database } from '../ports/database.ts';
import type { DeliveryStore } from '../ports/stores.ts';

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

    find: async (source, deliveryId, sql = db) => {
      const [row] = await sql.query<{ event: string; bodySha256: string; buildId: string | null }>(
        `select event, body_sha256 as "bodySha256", build_id as "buildId" from deliveries where source = $1 and delivery_id = $2`,
        [source, deliveryId],
      );
      return row ?? null;
    },
  };
}
