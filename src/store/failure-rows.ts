import { FailureRow } from '../domain/failure.ts';

/** Of an answer that nobody judged (`isJudged`) the stored category means nothing. */
export const JUDGED_CATEGORY = `case when a.analyst <> 'none' then a.category end`;

/** Reads a failure with its build and with its category: a person's word goes before the machine's. */
export const FAILURE_ROW = `f.body as failure, f.repository, b.pipeline, b.number, b.branch, b.commit,
  coalesce(d.category, ${JUDGED_CATEGORY}) as category, a.id as "analysisId", case when d.type <> 'reject' then d.reviewer end as "decidedBy",
  f.seen_at as "seenAt"`;

export const FAILURE_ROW_FROM = `failures f
  join builds b on b.id = f.build_id
  left join triages t on t.build_id = f.build_id and t.fingerprint = f.fingerprint
  left join analyses a on a.triage_id = t.id
  left join decisions d on d.analysis_id = a.id`;

export function readFailureRow(row: unknown): FailureRow {
  return FailureRow.parse(row);
}
