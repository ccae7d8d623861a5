import { TriageError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import type { Clock } from '../lib/time.ts';
import type { ExperimentStore } from '../ports/experiments.ts';

export function createExperimentStore(clock: Clock): ExperimentStore {
  return {
    add: async (buildId, experiment, by, sql) => {
      // An answer that is being concluded holds its build: it is seen by `apply`, or sees what is added here.
      const [build] = await sql.query('select 1 from builds where id = $1 for update', [buildId]);
      if (build === undefined) throw new TriageError('not-found', `There is no build ${buildId}.`);
      await sql.query(ADD, [newId('exp', clock.now()), buildId, experiment, by]);
    },
    apply: async (buildId, sql) => (await sql.query<{ id: string }>(APPLY, [buildId])).map(({ id }) => id),
  };
}

const ADD = 'insert into experiments (id, build_id, body, reported_by) values ($1, $2, $3, $4)';

const APPLY = `
  update analyses a set body = a.body || jsonb_build_object('experiment', newest.body)
  from (
    select distinct on (a.id) a.id, e.body from experiments e join analyses a on a.build_id = e.build_id and is_about(e, a)
    where e.build_id = $1 order by a.id, e.id desc
  ) as newest
  where a.id = newest.id returning a.id`;
