import { join } from 'node:path';
import type { DatasetRow } from '../../../../src/replay/cases/case.ts';
import { readDatasetCases } from '../../../../src/replay/cases/dataset.ts';
import type { CaseResult } from '../../../../src/replay/run/results.ts';
import { readResultLines } from '../../../../src/replay/run/results-file.ts';

/** A row with a known fix, its answer, and its texts. */
export interface AnsweredRow {
  readonly row: DatasetRow & { readonly fix: string };
  readonly result: CaseResult;
  readonly texts: readonly string[];
  /** The path of its first log. Null if the row itself contains it. */
  readonly logPath: string | null;
}

const LIMITS = { maxBytes: 256 * 1024 * 1024, green: false };

/** Reads the rows of a data set that have a fix, each with its result. Throws if a log or the results cannot be read. */
export async function readAnswered(dataset: string, results: string): Promise<AnsweredRow[]> {
  const byId = new Map<string, CaseResult>();
  for await (const result of readResultLines(results)) byId.set(result.id, result);
  const answered: AnsweredRow[] = [];
  for await (const outcome of readDatasetCases(dataset)) {
    if ('error' in outcome) throw new Error(outcome.error);
    const { row } = outcome.one;
    const result = byId.get(row.id);
    if (row.fix == null || result === undefined) continue;
    const { sources } = await outcome.one.load(LIMITS);
    const logPath = row.log_path == null ? null : join(dataset, '..', row.log_path);
    answered.push({ row: { ...row, fix: row.fix }, result, texts: sources.map(({ text }) => text), logPath });
  }
  if (answered.length === 0)
    throw new Error(`No row of ${dataset} has both a fix and a result in ${results}.`);
  return answered;
}
