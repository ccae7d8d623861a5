import type { Sides, Unpaired } from '../../domain/comparison.ts';
import { TriageError } from '../../domain/errors.ts';
import { type CaseOutcome, type DatasetRow, resolveProject } from '../cases/case.ts';
import { createReplayedCase, type ReplayedCase } from '../run/replay.ts';
import type { RunResults } from '../run/results-file.ts';

/** A case that both sides answered, with all repeats. */
export interface PairedCase {
  readonly id: string;
  /** The line number in the data set, 1-based. */
  readonly line: number;
  readonly row: DatasetRow;
  readonly project: string;
  /** The runs of the case, in the order of the side's files. */
  readonly runs: Sides<readonly ReplayedCase[]>;
}

/**
 * Matches the results of both sides by the ids of the data set. Throws if an id occurs twice, or no case is
 * on both sides.
 */
export async function pairCases(
  cases: AsyncIterable<CaseOutcome>,
  files: Sides<readonly RunResults[]>,
): Promise<Unpaired & { pairs: PairedCase[] }> {
  const seen = new Map<string, number>();
  const pairs: PairedCase[] = [];
  const [onlyA, onlyB, unanswered, unreadable]: [string[], string[], string[], string[]] = [[], [], [], []];
  for await (const outcome of cases) {
    if ('error' in outcome) {
      unreadable.push(outcome.error);
      continue;
    }
    const { row } = outcome.one;
    const earlier = seen.get(row.id);
    if (earlier !== undefined)
      throw new TriageError(
        'invalid-input',
        `The data set has the ID ${row.id} on lines ${earlier} and ${outcome.line}.`,
      );
    seen.set(row.id, outcome.line);
    const runs = { a: findRuns(row, files.a), b: findRuns(row, files.b) };
    if (runs.a.length > 0 && runs.b.length > 0)
      pairs.push({ id: row.id, line: outcome.line, row, project: resolveProject(row), runs });
    else if (runs.a.length > 0) onlyA.push(row.id);
    else if (runs.b.length > 0) onlyB.push(row.id);
    else unanswered.push(row.id);
  }
  const answered = [...files.a, ...files.b].flatMap(({ results }) => [...results.keys()]);
  const unlabelled = [...new Set(answered)].filter((id) => !seen.has(id));
  if (pairs.length === 0) throw createNoCommonCaseError(seen.size, files);
  const failed = { a: listFailed(pairs, 'a'), b: listFailed(pairs, 'b') };
  return { pairs, onlyA, onlyB, unanswered, unlabelled, failed, unreadable };
}

function findRuns(row: DatasetRow, files: readonly RunResults[]): ReplayedCase[] {
  const light = { ...row, log: null, stack_trace: null, snippets: null };
  return files
    .flatMap(({ results }) => results.get(row.id) ?? [])
    .map((result) => createReplayedCase(light, result));
}

function listFailed(pairs: readonly PairedCase[], side: keyof Sides<unknown>): string[] {
  return pairs
    .filter(({ runs }) => runs[side].some(({ result }) => result.error !== null))
    .map(({ id }) => id);
}

function createNoCommonCaseError(rows: number, { a, b }: Sides<readonly RunResults[]>): TriageError {
  const count = (files: readonly RunResults[]) =>
    files.reduce((total, { results }) => total + results.size, 0);
  return new TriageError(
    'invalid-input',
    `No case is on both sides: the IDs do not match (cases in the data set: ${rows}, results on side ` +
      `A: ${count(a)}, on side B: ${count(b)}). Is this the data set that was replayed?`,
  );
}
