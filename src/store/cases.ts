import { z } from 'zod';
import type { Sql } from '../ports/database.ts';
import { type CaseFilter, type CaseStore, StoredCase } from '../ports/measurements.ts';
import { BUILD_COLUMNS, buildColumns, readBuild } from './build-rows.ts';

/** Causes of stored builds, page by page; each page begins where the one before ended, so that new builds move none. */
export function createCaseStore(read: Pick<Sql, 'query'>): CaseStore {
  return {
    list: async (filter, limit, after) => {
      const values = [...filterValues(filter), after?.buildId ?? null, after?.cause ?? null, limit];
      return (await read.query(LIST, values)).map(readCase);
    },
  };
}

function filterValues({ repository, branch, fingerprint, category, since, until, decided }: CaseFilter): unknown[] {
  return [repository ?? null, branch ?? null, fingerprint ?? null, category ?? null, since ?? null, until ?? null, decided ?? false];
}

const Row = z.record(z.string(), z.unknown());

function readCase(row: unknown): StoredCase {
  const columns = Row.parse(row);
  const build = readBuild(Object.fromEntries(BUILD_COLUMNS.map(([, field]) => [field, columns[field]])));
  return StoredCase.parse({ ...columns, build });
}

const HAPPENED = 'coalesce(b.finished_at, b.started_at, b.received_at)';

// A group's first failure stands for its cause. Ids of builds rise with time.
const LIST = `
  select ${buildColumns('b')}, f.fingerprint, f.group_number as cause, a.body as analysis, d.body as decision, r.origin
  from failures f
  join builds b on b.id = f.build_id
  left join triages t on t.build_id = f.build_id and t.fingerprint = f.fingerprint
  left join analyses a on a.triage_id = t.id
  left join decisions d on d.analysis_id = a.id
  left join reviews r on r.analysis_id = a.id
  where f.position = 0
    and ($1::text is null or b.repository = $1) and ($2::text is null or b.branch = $2) and ($3::text is null or f.fingerprint = $3)
    and ($4::text is null or coalesce(d.category, a.category) = $4)
    and ($5::timestamptz is null or ${HAPPENED} >= $5) and ($6::timestamptz is null or ${HAPPENED} < $6)
    and (not $7::boolean or d.id is not null)
    and ($8::text is null or (b.id, f.group_number) > ($8, $9::int))
  order by b.id, f.group_number limit $10`;
