import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import type { ComparedRuns } from '../../ports/kept-runs.ts';
import { openCases } from '../cases/folder.ts';
import { listDifferences } from '../run/manifest.ts';
import { readResults } from '../run/results-file.ts';
import { compareRuns } from './compare-runs.ts';
import { findManifestIn, listResultsIn } from './kept-runs.ts';

/** The folders of the two runs. They are compared in a thread, because a thousand cases take seconds. */
const [baseline, candidate] = z.tuple([z.string(), z.string()]).parse(workerData);
parentPort?.postMessage(await compareFolders(baseline, candidate));

/** Compares both runs by the labels of the candidate, which are newer if answers were reviewed in between. */
async function compareFolders(baseline: string, candidate: string): Promise<ComparedRuns> {
  const read = async (folder: string) => await Promise.all((await listResultsIn(folder)).map(readResults));
  const files = { a: await read(baseline), b: await read(candidate) };
  const [before, after] = [await findManifestIn(baseline), await findManifestIn(candidate)];
  const dataset = after?.sources.map(({ name }) => name).join(', ') ?? '';
  const comparison = await compareRuns({ dataset, cases: await openCases(candidate), files });
  return { comparison, changes: before === null || after === null ? [] : listDifferences(before, after) };
}
