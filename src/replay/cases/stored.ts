import type { SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { tooLarge } from '../../log/decode/decompress.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { CaseCursor, CaseFilter, CaseStore, StoredCase } from '../../ports/measurements.ts';
import type { BuildStore } from '../../ports/stores.ts';
import type { CaseOutcome, CaseTexts } from './case.ts';
import { storedTruth } from './stored-truth.ts';

export interface StoredCaseDeps {
  readonly cases: CaseStore;
  readonly builds: Pick<BuildStore, 'logsForgottenAt'>;
  readonly archive: Pick<BuildArchive, 'list' | 'read'>;
}

/** Told of each failure that is no case, and why. */
export type OnLeftOut = (id: string, reason: string) => void;

/** Causes of one page; their answers are in memory together. */
const PAGE = 50;

/**
 * Failures that a person decided, oldest first, with the person's truth: decisions that were taken back are no decisions. Left out is
 * what has no truth, such as an answer that was only rejected, and further causes of a build. Ids are the builds'.
 */
export function reviewedCases(deps: StoredCaseDeps, filter: CaseFilter, onLeftOut: OnLeftOut = ignore): AsyncGenerator<CaseOutcome> {
  return storedCases(deps, { ...filter, decided: true }, onLeftOut);
}

/** Stored failures by filter, oldest first, with a truth where a person decided. Left out is the same as of `reviewedCases`. */
export async function* storedCases(deps: StoredCaseDeps, filter: CaseFilter, onLeftOut: OnLeftOut = ignore): AsyncGenerator<CaseOutcome> {
  let line = 0;
  for await (const stored of everyCase(deps.cases, filter)) {
    const { build } = stored;
    const truth = storedTruth(stored);
    if ('leftOut' in truth) onLeftOut(build.id, truth.leftOut);
    else yield { line: ++line, one: { row: truth.row, build, load: ({ maxBytes }) => archived(build.id, truth.shownIn, maxBytes, deps) } };
  }
}

async function* everyCase(cases: CaseStore, filter: CaseFilter): AsyncGenerator<StoredCase> {
  let after: CaseCursor | null = null;
  while (true) {
    const page: StoredCase[] = await cases.list(filter, PAGE, after);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = { buildId: last.build.id, cause: last.cause };
  }
}

/** All texts of a build, the log that labelled lines are of first. They are masked, as all that is archived. */
async function archived(buildId: string, first: string | null, maxBytes: number, deps: StoredCaseDeps): Promise<CaseTexts> {
  const listed = await deps.archive.list(buildId);
  const total = listed.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > maxBytes) throw tooLarge(`The stored data of build ${buildId}`, maxBytes);
  const rank = ({ name, kind }: { readonly name: string; readonly kind: string }) => (name === first ? 0 : kind === 'log' ? 1 : 2);
  const sources: SourceText[] = [];
  for (const { name, kind, notes } of [...listed].sort((left, right) => rank(left) - rank(right))) {
    const text = await deps.archive.read(buildId, name);
    if (text !== null && text !== '') sources.push({ name, kind, notes, text });
  }
  if (sources.length === 0) throw await missing(buildId, deps);
  return { sources, greenText: undefined };
}

async function missing(buildId: string, { builds }: StoredCaseDeps): Promise<TriageError> {
  const forgotten = await builds.logsForgottenAt(buildId);
  const why = forgotten === null ? 'no log of it is stored' : `retention deleted its logs on ${forgotten.slice(0, 10)}`;
  return new TriageError('not-found', `Build ${buildId} cannot be replayed: ${why}.`);
}

function ignore(): void {}
