import type { Finding } from '../domain/evidence.ts';
import type { FailureRow } from '../domain/failure.ts';
import type { HistoryStore } from '../ports/stores.ts';

/**
 * A failure of an earlier build as a finding: where and when it was seen, what it said, what it was taken for, and by whom where a person
 * decided it: what a machine said of one failure is no proof of what it says of the next.
 */
export function pastFailure(row: FailureRow): Finding {
  const { failure, repository, pipeline, number, category, seenAt, decidedBy = null } = row;
  const name = failure.test?.name ?? failure.message.split('\n')[0] ?? 'failure';
  return {
    title: `${pipeline} #${number}, ${seenAt.slice(0, 10)}${category === null ? '' : `, ${category}`}${decidedBy === null ? '' : ` (decided by ${decidedBy})`}: ${name}`,
    text: failure.message,
    source: `history/${repository}/${pipeline}/${number}`,
    data: {
      failureId: failure.id,
      buildId: failure.buildId,
      repository,
      pipeline,
      number,
      analysisId: row.analysisId,
      fingerprint: failure.fingerprint.value,
      test: failure.test?.name ?? null,
      category,
      decidedBy,
      branch: row.branch,
      commit: row.commit,
      seenAt,
    },
  };
}

/** Why nothing can be asked about the past, or null. */
export function historyUnavailable(history: HistoryStore): string | null {
  return history.kept === false ? 'No history is available: this run has no database.' : null;
}
