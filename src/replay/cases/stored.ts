import type { Build, SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Decision } from '../../domain/review.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { createTooLargeError } from '../../log/decode/decode.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { BuildStore } from '../../stores/builds.ts';
import type { CaseCursor, CaseFilter, CaseStore, StoredCase } from '../../stores/measurements.ts';
import type { CaseOutcome, CaseTexts, DatasetRow } from './case.ts';

export interface StoredCaseDeps {
  readonly cases: CaseStore;
  readonly builds: Pick<BuildStore, 'logsForgottenAt'>;
  readonly archive: Pick<BuildArchive, 'list' | 'read'>;
}

/** Called with each failure that is not a case, and the reason. */
export type OnLeftOut = (id: string, reason: string) => void;

/** The number of causes that are loaded at once, with their answers. */
const PAGE = 50;

/**
 * Yields the failures that a person decided, oldest first, labeled with the decision. Decisions that were
 * undone are ignored. Failures whose label is unknown, such as after a mere rejection, are left out, and so
 * are further causes of a build. The ids are those of the builds.
 */
export function listReviewedCases(
  deps: StoredCaseDeps,
  filter: CaseFilter,
  onLeftOut: OnLeftOut = ignore,
): AsyncGenerator<CaseOutcome> {
  return listStoredCases(deps, { ...filter, decided: true }, onLeftOut);
}

/**
 * Yields stored failures that match a filter, oldest first, labeled if a person decided. The same failures
 * are left out as in `listReviewedCases`.
 */
export async function* listStoredCases(
  deps: StoredCaseDeps,
  filter: CaseFilter,
  onLeftOut: OnLeftOut = ignore,
): AsyncGenerator<CaseOutcome> {
  let line = 0;
  for await (const stored of listEveryCase(deps.cases, filter)) {
    const { build } = stored;
    const truth = toStoredTruth(stored);
    if ('leftOut' in truth) onLeftOut(build.id, truth.leftOut);
    else
      yield {
        line: ++line,
        one: {
          row: truth.row,
          build,
          load: ({ maxBytes }) => readArchived(build.id, truth.shownIn, maxBytes, deps),
        },
      };
  }
}

async function* listEveryCase(cases: CaseStore, filter: CaseFilter): AsyncGenerator<StoredCase> {
  let after: CaseCursor | null = null;
  while (true) {
    const page: StoredCase[] = await cases.list(filter, PAGE, after);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = { buildId: last.build.id, cause: last.cause };
  }
}

/**
 * Reads all texts of a build, beginning with the log of the labeled lines. Texts in the archive are masked.
 */
async function readArchived(
  buildId: string,
  first: string | null,
  maxBytes: number,
  deps: StoredCaseDeps,
): Promise<CaseTexts> {
  const listed = await deps.archive.list(buildId);
  const total = listed.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > maxBytes) throw createTooLargeError(`The stored data of build ${buildId}`, maxBytes);
  const rank = ({ name, kind }: { readonly name: string; readonly kind: string }) =>
    name === first ? 0 : kind === 'log' ? 1 : 2;
  const sources: SourceText[] = [];
  for (const { name, kind, notes } of [...listed].sort((left, right) => rank(left) - rank(right))) {
    const text = await deps.archive.read(buildId, name);
    if (text !== null && text !== '') sources.push({ name, kind, notes, text });
  }
  if (sources.length === 0) throw await createMissingError(buildId, deps);
  return { sources, greenText: undefined };
}

async function createMissingError(buildId: string, { builds }: StoredCaseDeps): Promise<TriageError> {
  const forgotten = await builds.logsForgottenAt(buildId);
  const why =
    forgotten === null ? 'no log of it is stored' : `retention deleted its logs on ${forgotten.slice(0, 10)}`;
  return new TriageError('not-found', `Build ${buildId} cannot be replayed: ${why}.`);
}

function ignore(): void {}

/** The labels of a stored failure, or the reason why a person's decision contains none. */
type StoredTruth =
  | { readonly row: DatasetRow; readonly shownIn: string | null }
  | { readonly leftOut: string };

/**
 * Returns the row of a stored failure. Only a person's decision gives labels: an accepted answer, or a
 * reviewer's correction. If the category was corrected without naming a cause, the cause of the answer is no
 * label. A failure without a decision has a row without labels.
 */
function toStoredTruth(stored: StoredCase): StoredTruth {
  const { build, analysis, decision, origin, cause } = stored;
  if (cause > 0) return { leftOut: 'another cause of its build: a replay measures only the first' };
  const row = { ...toRow(build), ...omitUndefined({ experiment: analysis?.experiment }) };
  if (analysis === null || decision === null) return { row, shownIn: null };
  const labels = toLabels(analysis, decision);
  if (labels === null)
    return { leftOut: `rejected without a correct category (${decision.reasonCode ?? 'in words only'})` };
  const shownBy = findShownLines(analysis, decision);
  return {
    row: {
      ...row,
      ...labels,
      ...(shownBy.lines.length === 0 ? {} : { expected_lines: shownBy.lines }),
      decided_by: decision.reviewer,
      review: { origin: origin ?? 'unsure', decision: decision.type, blind: decision.blind !== undefined },
    },
    shownIn: shownBy.source,
  };
}

/**
 * Converts a build to a row. Its time is that of its end, or else of its beginning, or else of its receipt.
 */
function toRow(build: Build): DatasetRow {
  const happened = build.finishedAt ?? build.startedAt ?? build.receivedAt;
  return {
    id: build.id,
    project: build.repository,
    ...(build.url === null ? {} : { source: build.url }),
    happened_at: happened,
  };
}

type Labels = Pick<DatasetRow, 'category' | 'kind' | 'root_cause' | 'fix'>;
type Answered = NonNullable<StoredCase['analysis']>;

function toLabels(
  { category, kind, answer, terminationReason }: Answered,
  decision: Decision,
): Labels | null {
  if (decision.type === 'reject') {
    if (decision.reasonCode === 'right_category_wrong_cause') return { category };
    return decision.category === undefined ? null : { category: decision.category };
  }
  const label = decision.category ?? category;
  // The cause of a failed analysis is the error that stopped it.
  const holds = label === category && terminationReason !== 'failed';
  const rootCause = decision.rootCause ?? (holds ? answer.rootCause : undefined);
  const fix =
    decision.fixRecommendation ??
    (holds && decision.rootCause === undefined ? answer.fixRecommendation : undefined);
  const kept = decision.kind ?? (holds && kind !== 'unknown' ? kind : undefined);
  return { category: label, ...omitUndefined({ kind: kept, root_cause: rootCause, fix }) };
}

/**
 * Returns the lines that the reviewer named, from the first log in which any were named, because the lines of
 * a row belong to one log.
 */
function findShownLines(
  analysis: Answered,
  { shownBy }: Decision,
): { source: string | null; lines: [number, number][] } {
  if (shownBy === undefined || shownBy === 'none') return { source: null, lines: [] };
  const cited = analysis.evidence.flatMap(({ id, source, lineStart, lineEnd }) =>
    shownBy.evidence.includes(id) && lineStart !== undefined
      ? [{ source, lineStart, lineEnd: lineEnd ?? lineStart }]
      : [],
  );
  const all = [...shownBy.lines, ...cited];
  const source = all[0]?.source ?? null;
  const lines = all.filter((excerpt) => excerpt.source === source && excerpt.lineEnd >= excerpt.lineStart);
  return { source, lines: lines.map(({ lineStart, lineEnd }) => [lineStart, lineEnd]) };
}
