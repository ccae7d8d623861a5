import type { SlackPresses } from '../ports/chat-room.ts';
import type { Database } from '../ports/database.ts';

/** A signature holds for five minutes on either side; what is older is refused by its time. */
export function createSlackPresses(db: Pick<Database, 'query'>): SlackPresses {
  return { isNew: async (id) => (await db.query(KEEP, [id])).length > 0 };
}

const KEEP = `
  with old as (delete from slack_presses where pressed_at < clock_timestamp() - interval '1 hour' and id <> $1)
  insert into slack_presses (id) values ($1) on conflict (id) do nothing returning id`;
