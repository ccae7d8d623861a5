import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import { visibleLine } from '../../publish/visible-text.ts';
import type { CaseOutcome } from '../../replay/cases/case.ts';
import { sampleOf } from '../../replay/cases/choose.ts';
import { datasetCases } from '../../replay/cases/dataset.ts';
import { datasetAt, folderCases } from '../../replay/cases/folder.ts';
import { say } from '../terminal.ts';
import { type CaseMeasure, measureFile } from './measure-file.ts';
import type { ReplayCommandOptions } from './replay-options.ts';
import { casesOfApp, openInstallation, storeFilter } from './stored-cases.ts';

/** Cases that are replayed together and get one table. */
export interface CaseSource {
  /** As headings name it. */
  readonly name: string;
  /** Where it is, as it was given; "reviewed" or "stored" of an installation's own. */
  readonly path: string;
  cases(): AsyncIterable<CaseOutcome>;
  /** How many there are, and a digest that changes with them; null where that is not told beforehand. */
  measure(): Promise<CaseMeasure>;
}

/** Sources of cases, and what has to be closed behind them. */
export interface OpenedSources {
  readonly sources: readonly CaseSource[];
  close(): Promise<void>;
}

/** Opens the places that cases were asked from, in order. Throws where one is not there, none was named, or more than one kind. */
export async function openCaseSources(options: ReplayCommandOptions): Promise<OpenedSources> {
  const { sources, close } = await openKind(options);
  const { sample } = options;
  return { sources: sample === undefined ? sources : sources.map((source) => sampled(source, sample)), close };
}

async function openKind(options: ReplayCommandOptions): Promise<OpenedSources> {
  const { dataset, logs, reviewed, stored } = options;
  const kinds = [dataset, logs, reviewed, stored].filter((kind) => kind !== undefined).length;
  if (kinds > 1) throw new TriageError('invalid-config', 'Choose only one of --dataset, --logs, --reviewed and --stored.');
  if (reviewed || stored) return await openStoredSource(options);
  const filter = Object.keys(storeFilter(options))[0];
  if (filter !== undefined)
    throw new TriageError('invalid-config', `--${filter} filters stored failures: use it with --reviewed or --stored.`);
  const sources = logs === undefined ? await Promise.all((dataset ?? []).map(datasetSource)) : logs.map(folderSource);
  if (sources.length > 0) return { sources, close: async () => undefined };
  throw new TriageError(
    'invalid-config',
    'Choose the cases: --dataset FILE for a data set or case set, --logs FOLDER for a folder of logs, --reviewed or --stored for your own.',
  );
}

async function datasetSource(path: string): Promise<CaseSource> {
  const file = await datasetAt(path).catch(() => null);
  if (file === null) throw new TriageError('not-found', `--dataset: ${path} is neither a file nor a case set.`);
  return { name: basename(path), path, cases: () => datasetCases(file), measure: () => measureFile(file) };
}

/** The failures of an installation, which stays open until they are replayed. */
async function openStoredSource(options: ReplayCommandOptions): Promise<OpenedSources> {
  const chosen = Object.entries(storeFilter(options)).map(([name, value]) => `${name} ${value}`);
  const kind = options.reviewed ? 'reviewed' : 'stored';
  const app = await openInstallation(options);
  const name = `${kind} cases${chosen.length === 0 ? '' : ` (${chosen.join(', ')})`}`;
  const measure = async () => {
    const leftOut = new Map<string, number>();
    const count = (_id: string, reason: string) => leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
    const measured = await measureCases(casesOfApp(app, options, count));
    for (const [reason, times] of leftOut) say(visibleLine(`Skipped: ${times} × ${reason}.`));
    if (measured.cases === 0) throw new TriageError('invalid-input', `There are no ${name} to replay.`);
    return measured;
  };
  return {
    sources: [{ name, path: kind, cases: () => casesOfApp(app, options), measure }],
    close: () => app.close({ drainMs: 0 }),
  };
}

function folderSource(path: string): CaseSource {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new TriageError('not-found', `--logs: ${path} is not a folder.`);
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
