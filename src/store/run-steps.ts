import { z } from 'zod';
import { Step } from '../domain/analysis.ts';
import type { Database } from '../ports/database.ts';
import type { RunStepStore } from '../ports/job-queue.ts';

const Row = z.object({ position: z.int(), step: Step });

/** What runs that died have left is swept with the steps of whatever runs next. */
export function createRunStepStore(db: Database): RunStepStore {
  return {
    add: async (buildId, step) => {
      await db.query('insert into run_steps (build_id, step) values ($1, $2::jsonb)', [buildId, step]);
    },
    after: async (buildId, position) => {
      const rows = await db.query(
        'select position, step from run_steps where build_id = $1 and position > $2 order by position limit 300',
        [buildId, position],
      );
      return rows.map((row) => Row.parse(row));
    },
    forget: async (buildId) => {
      await db.query(`delete from run_steps where build_id = $1 or stored_at < clock_timestamp() - interval '1 day'`, [buildId]);
    },
  };
}
