import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { App } from '../../app/served-app.ts';
import { createApp } from '../../app.ts';
import { type DataOptions, getDataDirectory, readStoreConfig } from '../../cli/settings.ts';
import { say } from '../../cli/terminal.ts';
import type { Design } from '../../domain/calibration.ts';
import { CATEGORIES, Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import type { CaseFilter } from '../../stores/measurements.ts';
import type { CaseOutcome } from '../cases/case.ts';
import { sampleCases } from '../cases/choose.ts';
import { readDatasetCases, streamNumberedLines } from '../cases/dataset.ts';
import { findDatasetAt, listFolderCases } from '../cases/folder.ts';
import { listReviewedCases, listStoredCases, type OnLeftOut } from '../cases/stored.ts';
import type { SliceBy } from '../figures/score.ts';

/** Cases that are replayed together and share a table. */
export interface CaseSource {
  /** The name that headings use. */
  readonly name: string;
  /** The path as given by the user; "reviewed" or "stored" for the failures of an installation. */
  readonly path: string;
  cases(): AsyncIterable<CaseOutcome>;
  /** Counts the cases and computes a digest of them. Both are null if unknown in advance. */
  measure(): Promise<CaseMeasure>;
}

/** The sources of cases, and the function that closes their resources. */
interface OpenedSources {
  readonly sources: readonly CaseSource[];
  close(): Promise<void>;
}

/**
 * Opens the requested sources of cases, in order. Throws if one does not exist, if none was requested, or if
 * they are of different kinds.
 */
export async function openCaseSources(options: ReplayCommandOptions): Promise<OpenedSources> {
  const { sources, close } = await openKind(options);
  const { sample } = options;
  return {
    sources: sample === undefined ? sources : sources.map((source) => sampleSource(source, sample)),
    close,
  };
}

async function openKind(options: ReplayCommandOptions): Promise<OpenedSources> {
  const { dataset, logs, reviewed, stored } = options;
  const kinds = [dataset, logs, reviewed, stored].filter((kind) => kind !== undefined).length;
  if (kinds > 1)
    throw new TriageError('invalid-config', 'Choose only one of --dataset, --logs, --reviewed and --stored.');
  if (reviewed || stored) return await openStoredSource(options);
  const filter = Object.keys(storeFilter(options))[0];
  if (filter !== undefined)
    throw new TriageError(
      'invalid-config',
      `--${filter} filters stored failures: use it with --reviewed or --stored.`,
    );
  const sources =
    logs === undefined
      ? await Promise.all((dataset ?? []).map(createDatasetSource))
      : logs.map(createFolderSource);
  if (sources.length > 0) return { sources, close: async () => undefined };
  throw new TriageError(
    'invalid-config',
    'Choose the cases: --dataset FILE for a data set or case set, --logs FOLDER for a folder of ' +
      'logs, --reviewed or --stored for your own.',
  );
}

async function createDatasetSource(path: string): Promise<CaseSource> {
  const file = await findDatasetAt(path).catch(() => null);
  if (file === null)
    throw new TriageError('not-found', `--dataset: ${path} is neither a file nor a case set.`);
  return {
    name: basename(path),
    path,
    cases: () => readDatasetCases(file),
    measure: () => measureFile(file),
  };
}

/** Opens the failures of an installation. It stays open until they are replayed. */
async function openStoredSource(options: ReplayCommandOptions): Promise<OpenedSources> {
  const chosen = Object.entries(storeFilter(options)).map(([name, value]) => `${name} ${value}`);
  const kind = options.reviewed ? 'reviewed' : 'stored';
  const app = await createApp(readStoreConfig(getDataDirectory(options.data)), silentLogger);
  const name = `${kind} cases${chosen.length === 0 ? '' : ` (${chosen.join(', ')})`}`;
  const measure = async () => {
    const leftOut = new Map<string, number>();
    const count = (_id: string, reason: string) => leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
    const measured = await measureCases(listAppCases(app, options, count));
    for (const [reason, times] of leftOut) say(toVisibleLine(`Skipped: ${times} × ${reason}.`));
    if (measured.cases === 0) throw new TriageError('invalid-input', `There are no ${name} to replay.`);
    return measured;
  };
  return {
    sources: [{ name, path: kind, cases: () => listAppCases(app, options), measure }],
    close: () => app.close({ drainMs: 0 }),
  };
}

function createFolderSource(path: string): CaseSource {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new TriageError('not-found', `--logs: ${path} is not a folder.`);
  return {
    name: basename(path),
    path,
    cases: () => listFolderCases(path),
    measure: () => measureCases(listFolderCases(path)),
  };
}

function sampleSource(source: CaseSource, most: number): CaseSource {
  const cases = () => sampleCases(source.cases(), most);
  return {
    ...source,
    name: `${source.name}, sample of ${most}`,
    cases,
    measure: () => measureCases(cases()),
  };
}

/** Counts cases and computes a digest of their rows, without reading a log. */
async function measureCases(outcomes: AsyncIterable<CaseOutcome>): Promise<CaseMeasure> {
  const hash = createHash('sha256');
  let cases = 0;
  for await (const outcome of outcomes) {
    cases++;
    hash.update(`${JSON.stringify('error' in outcome ? outcome : outcome.one.row)}\n`);
  }
  return { cases, sha256: hash.digest('hex') };
}

/** Returns the requested stored failures of an open app. */
export function listAppCases(
  app: App,
  options: StoredCaseOptions,
  onLeftOut?: OnLeftOut,
): AsyncIterable<CaseOutcome> {
  const from = { cases: app.stores.cases, builds: app.stores.builds, archive: app.archive };
  return (options.reviewed ? listReviewedCases : listStoredCases)(from, storeFilter(options), onLeftOut);
}

/** Creates the filter for stored failures. Throws if the category does not exist. */
export function storeFilter({
  repository,
  branch,
  fingerprint,
  category,
  since,
  until,
}: StoreFilterOptions): CaseFilter {
  const known = category === undefined ? undefined : parseCategory(category);
  return omitUndefined({ repository, branch, fingerprint, category: known, since, until });
}

function parseCategory(text: string): Category {
  const category = Category.safeParse(text);
  if (category.success) return category.data;
  throw new TriageError(
    'invalid-config',
    `--category: "${text}" is not a category; use one of ${CATEGORIES.join(', ')}.`,
  );
}

/** The number of cases and a digest of them; null if unknown. */
export interface CaseMeasure {
  readonly cases: number | null;
  readonly sha256: string | null;
}

/** Counts and digests the rows of a file, without parsing them. */
async function measureFile(path: string): Promise<CaseMeasure> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece);
  let cases = 0;
  for await (const _ of streamNumberedLines(path)) cases++;
  return { cases, sha256: hash.digest('hex') };
}

/** The options of `faultline replay`, as commander parses them. */
export interface ReplayCommandOptions extends StoredCaseOptions {
  /** The paths of data sets, which are replayed one after the other, each with a table of its own. */
  readonly dataset?: readonly string[];
  /** The paths of folders of logs, each with a table of its own. */
  readonly logs?: readonly string[];
  /** The property by which the main figures are shown separately. */
  readonly by?: SliceBy;
  /** The number of cases that are sampled from each source. */
  readonly sample?: number;
  /** The number of replays of the same cases. */
  readonly repeat?: number;
  readonly out?: string;
  /** The name under which the run is kept, in place of `out`. */
  readonly keep?: string;
  /** True to continue an earlier run whose results are in `out`. */
  readonly resume?: boolean;
  /** The file to which recordings of the runs are written. */
  readonly record?: string;
  readonly maxUsd?: number;
  readonly maxMinutes?: number;
  /** The number of times that a model compares each explanation with its label; once if true. */
  readonly judge?: true | number;
  readonly junit?: string;
  /** The path of a file of bars. */
  readonly gate?: string;
  readonly html?: string;
  readonly analyst?: 'rules' | 'llm';
  readonly model?: string;
  readonly profile?: 'fast' | 'balanced' | 'thorough';
  readonly budget?: number;
  readonly concurrency: number;
  readonly only?: 'read';
  readonly green: boolean;
  /** The names of stages to leave out, not validated yet. */
  readonly without?: readonly string[];
  readonly design?: Design;
}

/** The filter options for stored failures, as commander parses them. */
interface StoreFilterOptions {
  readonly repository?: string;
  readonly branch?: string;
  readonly fingerprint?: string;
  readonly category?: string;
  readonly since?: string;
  readonly until?: string;
}

export interface StoredCaseOptions extends DataOptions, StoreFilterOptions {
  /** True to replay only reviewed failures. */
  readonly reviewed?: true;
  readonly stored?: true;
}
