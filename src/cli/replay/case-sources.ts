import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import type { CaseOutcome } from '../../replay/cases/case.ts';
import { datasetCases } from '../../replay/cases/dataset.ts';
import type { ReplayCommandOptions } from './replay-options.ts';

/** Cases that are replayed together and get one table. */
export interface CaseSource {
  /** As headings name it. */
  readonly name: string;
  /** Where it is, as it was given. */
  readonly path: string;
  cases(): AsyncIterable<CaseOutcome>;
}

/** Every place that cases were asked from, in order. Throws where one is not there, or none was named. */
export function caseSources(options: ReplayCommandOptions): CaseSource[] {
  const sources = (options.dataset ?? []).map(datasetSource);
  if (sources.length === 0) throw new TriageError('invalid-config', 'Say where the cases are: --dataset FILE.');
  return sources;
}

function datasetSource(path: string): CaseSource {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new TriageError('not-found', `--dataset: ${path} is no file.`);
  return { name: basename(path), path, cases: () => datasetCases(path) };
}
