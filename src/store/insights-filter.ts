import type { InsightsFilter, Period } from '../ports/insights.ts';
import { scopeValue } from './scope.ts';

/** `[$1, $2]` of every question: which repositories are meant. */
export function filterValues({ repository, repositories }: InsightsFilter): unknown[] {
  return [repository ?? null, scopeValue(repositories)];
}

/** `[$1, $2, $3, $4]`: repositories, and from when until when. */
export function periodValues(period: Period): unknown[] {
  const until = Date.parse(period.until);
  return [...filterValues(period), new Date(until - period.days * 86_400_000).toISOString(), period.until];
}

/** Facts of the repositories that are meant. */
export const MEANT = `($1::text is null or f.repository = $1) and ($2::text[] is null or f.repository like any($2))`;

export const WITHIN = `${MEANT} and f.created_at > $3::timestamptz and f.created_at <= $4::timestamptz`;

/** Whether the machine's category was right, as a person decided; null where that cannot be told. `DecidedCount` says it in words. */
export const RIGHT = `case f.decision
  when 'accept' then true
  when 'correct' then coalesce(f.decided_category, f.category) = f.category
  when 'reject' then case f.reject_reason when 'right_category_wrong_cause' then true when 'cannot_be_told' then null else false end end`;

/** Hundredths of the stated confidence; what a float lacks to 0.29 must not make it 28. */
export const HUNDREDTH = `floor((f.confidence + 1e-9) * 100)::int`;
