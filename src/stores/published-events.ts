import { z } from 'zod';
import {
  type EventPayload,
  type EventSubscriptions,
  toEventKey,
  toEventTopic,
} from '../domain/published-event.ts';
import { Decision } from '../domain/review.ts';
import type { Database, Sql } from '../ports/database.ts';
import { IS_IMPORTED } from './publications.ts';
import { isoTime, queryFirst } from './sql.ts';
import type { WorkStore } from './work.ts';

/** The events to publish: the channels that asked for them, and the delay of decisions in milliseconds. */
export interface EventSettings extends EventSubscriptions {
  readonly undoMs: number;
}

/** The store of events that are to be published. */
export type PublishedEventStore = ReturnType<typeof createPublishedEventStore>;

/** Creates the store of events. If no channel asked for an event, calls cost nothing. */
export function createPublishedEventStore(
  db: Database,
  work: Pick<WorkStore, 'addOnce'>,
  { decisions, outcomes, undoMs }: EventSettings,
) {
  return {
    /**
     * Requests that each channel that asked for it publishes this event once. Must be called in the
     * transaction of the change. A decision waits for as long as it can be undone unnoticed. Nothing is
     * published about imported builds.
     */
    add: async (payload: EventPayload, buildId: string, sql: Sql = db) => {
      const channels = payload.type === 'outcome.graded' ? outcomes : decisions;
      if (channels.length === 0 || (await sql.query(IS_IMPORTED, [buildId])).length > 0) return;
      const delayMs = payload.type === 'decision.made' ? undoMs : 0;
      const requests = channels.map((channel) => ({
        topic: toEventTopic(channel),
        key: toEventKey(channel, payload),
        buildId,
        payload,
        delayMs,
      }));
      await work.addOnce(requests, sql);
    },
    /** Finds a decision, whether it stands or was undone; null if it is no longer stored. */
    findDecision: async (id: string) => await queryFirst(db, KeptDecision, DECISION, [id]),
  };
}

const KeptDecision = z.object({
  decision: Decision,
  undone: z.object({ by: z.string(), at: z.iso.datetime() }).nullable(),
});

const DECISION = `
  select body as decision, null::jsonb as undone from decisions where id = $1
  union all
  select body, jsonb_build_object('by', undone_by, 'at', ${isoTime('undone_at')})
  from decisions_undone where id = $1`;
