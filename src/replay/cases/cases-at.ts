import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import type { CaseOutcome } from './case.ts';
import { datasetCases } from './dataset.ts';
import { folderCases } from './folder.ts';

/** What an exported case set calls its rows. */
export const SET_FILE = 'cases.jsonl';

/** The cases of a path that a person names: of a JSONL file, of an exported case set, or of a folder of logs. Throws `not-found`. */
export async function casesAt(path: string): Promise<AsyncIterable<CaseOutcome>> {
  const dataset = await datasetAt(path);
  return dataset === null ? folderCases(path) : datasetCases(dataset);
}

/** The JSONL file that a path stands for; null for a folder of logs. Throws `not-found`. */
export async function datasetAt(path: string): Promise<string | null> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new TriageError('not-found', `${path} is neither a file nor a folder.`, { cause });
  });
  if (!found.isDirectory()) return path;
  const inside = await stat(join(path, SET_FILE)).catch(() => null);
  return inside?.isFile() === true ? join(path, SET_FILE) : null;
}
