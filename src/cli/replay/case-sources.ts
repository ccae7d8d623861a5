import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import type { CaseOutcome } from '../../replay/cases/case.ts';
import { sampleOf } from '../../replay/cases/choose.ts';
import { datasetCases } from '../../replay/cases/dataset.ts';
import { folderCases } from '../../replay/cases/folder.ts';
import { type CaseMeasure, measureFile } from './measure-file.ts';
import type { ReplayCommandOptions } from './replay-options.ts';

/** Cases that are replayed together and get one table. */
export interface CaseSource {
  /** As headings name it. */
  readonly name: string;
  /** Where it is, as it was given. */
  readonly path: string;
  cases(): AsyncIterable<CaseOutcome>;
  /** How many there are, and a digest that changes with them; null where that is not told beforehand. */
  measure(): Promise<CaseMeasure>;
}

/** Every place that cases were asked from, in order. Throws where one is not there, or none was named. */
export function caseSources({ dataset = [], logs = [], sample }: ReplayCommandOptions): CaseSource[] {
  const sources = [...dataset.map(datasetSource), ...logs.map(folderSource)];
  if (sources.length === 0)
    throw new TriageError('invalid-config', 'Say where the cases are: --dataset FILE for a data set, --logs FOLDER for a folder of logs.');
  return sample === undefined ? sources : sources.map((source) => sampled(source, sample));
}

function datasetSource(path: string): CaseSource {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new TriageError('not-found', `--dataset: ${path} is no file.`);
  return { name: basename(path), path, cases: () => datasetCases(path), measure: () => measureFile(path) };
}

function folderSource(path: string): CaseSource {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new TriageError('not-found', `--logs: ${path} is no folder.`);
  return { name: basename(path), path, cases: () => folderCases(path), measure: () => measureCases(folderCases(path)) };
}

function sampled(source: CaseSource, most: number): CaseSource {
  const cases = () => sampleOf(source.cases(), most);
  return { ...source, name: `${source.name}, sample of ${most}`, cases, measure: () => measureCases(cases()) };
}

/** Counts cases and digests what is known of them, without reading a log. */
async function measureCases(outcomes: AsyncIterable<CaseOutcome>): Promise<CaseMeasure> {
  const hash = createHash('sha256');
  let cases = 0;
  for await (const outcome of outcomes) {
    cases++;
    hash.update(`${JSON.stringify('error' in outcome ? outcome : outcome.one.row)}\n`);
  }
  return { cases, sha256: hash.digest('hex') };
}
