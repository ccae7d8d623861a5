import type { Build } from '../../domain/build.ts';
import type { Decision } from '../../domain/review.ts';
import type { StoredCase } from '../../ports/measurements.ts';
import type { DatasetRow } from './row.ts';

/** What is known to be true of a stored failure; or why a person's decision says nothing that a replay could be measured by. */
export type StoredTruth = { readonly row: DatasetRow; readonly shownIn: string | null } | { readonly leftOut: string };

/**
 * The row of a stored failure. Its truth is a person's alone: an accepted answer, or what a reviewer put in its place; where a category
 * was corrected and no cause named, the machine's cause is not taken for true. What nobody decided has a row without a truth.
 */
export function storedTruth(stored: StoredCase): StoredTruth {
  const { build, analysis, decision, origin, cause } = stored;
  if (cause > 0) return { leftOut: 'another cause of its build: a replay measures only the first' };
  const row = rowOf(build);
  if (analysis === null || decision === null) return { row, shownIn: null };
  const said = labelsOf(analysis, decision);
  if (said === null) return { leftOut: `rejected without a correct category (${decision.reasonCode ?? 'in words only'})` };
  const shown = shownLines(analysis, decision);
  return {
    row: {
      ...row,
      ...said,
      ...(shown.lines.length === 0 ? {} : { expected_lines: shown.lines }),
      decided_by: decision.reviewer,
      review: { origin: origin ?? 'unsure', decision: decision.type, blind: decision.blind !== undefined },
    },
    shownIn: shown.source,
  };
}

/** When it failed: when it ended, else when it began or came. */
function rowOf(build: Build): DatasetRow {
  const happened = build.finishedAt ?? build.startedAt ?? build.receivedAt;
  return { id: build.id, project: build.repository, ...(build.url === null ? {} : { source: build.url }), happened_at: happened };
}

type Labels = Pick<DatasetRow, 'category' | 'kind' | 'root_cause' | 'fix'>;
type Answered = NonNullable<StoredCase['analysis']>;

function labelsOf({ category, kind, answer, terminationReason }: Answered, decision: Decision): Labels | null {
  if (decision.type === 'reject') {
    if (decision.reasonCode === 'right_category_wrong_cause') return { category };
    return decision.category === undefined ? null : { category: decision.category };
  }
  const said = decision.category ?? category;
  // A failed analysis gives the error that stopped it as its cause.
  const holds = said === category && terminationReason !== 'failed';
  const rootCause = decision.rootCause ?? (holds ? answer.rootCause : undefined);
  const fix = decision.fixRecommendation ?? (holds && decision.rootCause === undefined ? answer.fixRecommendation : undefined);
  const kept = decision.kind ?? (holds && kind !== 'unknown' ? kind : undefined);
  return {
    category: said,
    ...(kept === undefined ? {} : { kind: kept }),
    ...(rootCause === undefined ? {} : { root_cause: rootCause }),
    ...(fix === undefined ? {} : { fix }),
  };
}

/** The lines that the reviewer named, of the first log that they named any in: a row's lines are of one log. */
function shownLines(analysis: Answered, { shownBy }: Decision): { source: string | null; lines: [number, number][] } {
  if (shownBy === undefined || shownBy === 'none') return { source: null, lines: [] };
  const cited = analysis.evidence.flatMap(({ id, source, lineStart, lineEnd }) =>
    shownBy.evidence.includes(id) && lineStart !== undefined ? [{ source, lineStart, lineEnd: lineEnd ?? lineStart }] : [],
  );
  const all = [...shownBy.lines, ...cited];
  const source = all[0]?.source ?? null;
  const lines = all.filter((one) => one.source === source && one.lineEnd >= one.lineStart);
  return { source, lines: lines.map(({ lineStart, lineEnd }) => [lineStart, lineEnd]) };
}
