import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { PROMPT_FOLDER } from '../../../prompts/load.ts';
import { writeOutput } from '../../cli/terminal.ts';
import { resolveBudgetTokens } from '../../config/profiles.ts';
import type { Config } from '../../config/schema.ts';
import { TriageError } from '../../domain/errors.ts';
import { RELEASE } from '../../domain/trust.ts';
import { findDatasetAt } from '../cases/folder.ts';
import { listDifferences, parseManifest, type RunManifest } from '../run/manifest.ts';
import { createResults, openResumeResults, type ResultsFile } from '../run/results-file.ts';
import { listStagesLeftOut } from './answering.ts';
import type { CaseMeasure, CaseSource, ReplayCommandOptions } from './case-sources.ts';

/** The results file of a run and its cleanup. */
export interface RunFiles {
  readonly results: ResultsFile;
  /** Closes the results file and removes it if the user did not request it. */
  close(): Promise<void>;
}

/**
 * Opens the results file at `path`: empty, or to continue the same run. The settings of the run are stored
 * next to it in `PATH.run.json`. Throws `conflict` if the earlier run had other settings.
 */
export async function openRunFiles(
  path: string,
  isResumed: boolean,
  manifest: RunManifest,
): Promise<RunFiles> {
  if (isResumed) await checkEarlier(path, manifest);
  const results = isResumed ? await openResumeResults(path) : await createResults(path);
  if ((await stat(path)).isFile())
    await writeOutput(getManifestPath(path), `${JSON.stringify(manifest, null, 2)}\n`);
  return { results, close: () => results.close() };
}

/** Opens a temporary results file for a report. It is deleted when it is closed. */
export async function openPassingFiles(): Promise<RunFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-results-'));
  const results = await createResults(join(folder, 'results.jsonl'));
  const close = async () => {
    await results.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { results, close };
}

/**
 * Returns the results path of a repeat: "results.jsonl" → "results.2.jsonl". The path is unchanged if there
 * is only one repeat.
 */
export function getRepeatPath(path: string, repeat: number, repeats: number): string {
  if (repeats === 1) return path;
  const ending = extname(path);
  return `${path.slice(0, path.length - ending.length)}.${repeat}${ending}`;
}

async function checkEarlier(path: string, manifest: RunManifest): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.size === 0) return;
  if (!found.isFile()) throw new TriageError('invalid-input', `--resume: ${path} is not a file.`);
  const earlier = parseManifest(await readFile(getManifestPath(path), 'utf8').catch(() => ''));
  if (earlier === null)
    throw new TriageError(
      'conflict',
      `--resume: ${getManifestPath(path)} does not record how ${path} was created, so it cannot be ` +
        'continued. Replay it again without --resume.',
    );
  const differences = listDifferences(earlier, manifest);
  if (differences.length > 0)
    throw new TriageError(
      'conflict',
      `--resume: ${path} belongs to another run: ${differences.join('; ')}. ` +
        'Replay it again without --resume, or use another --out.',
    );
}

function getManifestPath(path: string): string {
  return `${path}.run.json`;
}

export type Measured = CaseMeasure & { readonly source: CaseSource };

/**
 * Creates the manifest of a run. It must contain everything that an answer depends on, because a run is
 * continued only if the manifests are equal.
 */
export function createManifest(
  options: ReplayCommandOptions,
  config: Config,
  measured: readonly Measured[],
): RunManifest {
  return {
    schema: 1,
    version: RELEASE,
    startedAt: new Date().toISOString(),
    sources: measured.map(({ source, sha256, cases }) => ({ name: source.name, sha256, cases })),
    settings: describeSettings(options, config),
  };
}

/** Describes the settings by their display names. Null means "not set". */
export function describeSettings(options: ReplayCommandOptions, config: Config): RunManifest['settings'] {
  const { driver, llm } = config.analyst;
  const leftOut = listStagesLeftOut(options).join(', ') || null;
  const read = {
    'budget in tokens': resolveBudgetTokens(config),
    'left out': leftOut,
    'names masked': findNamesHidden(config),
  };
  if (options.only === 'read') return { analyst: null, ...read };
  return {
    analyst: driver,
    design: options.design ?? 'loop',
    ...read,
    profile: config.triage.profile,
    'settings of the triage': computeDigest(JSON.stringify(config.triage)),
    ...(driver === 'llm'
      ? {
          model: llm.model,
          server: toOrigin(llm.baseUrl ?? llm.azure.endpoint),
          prompts: computePromptsDigest(),
        }
      : {}),
  };
}

/** Returns a description of what masking replaces besides secrets, because the answers depend on it. */
function findNamesHidden({ mask }: Config): string | null {
  return mask.join(', ') || null;
}

/** Returns the origin of a URL. Its other parts may contain secrets. */
function toOrigin(address: string | null): string | null {
  return address !== null && URL.canParse(address) ? new URL(address).origin : null;
}

/** Computes a digest of all prompts of the triage. */
function computePromptsDigest(): string {
  const folder = join(PROMPT_FOLDER, 'triage');
  const files = readdirSync(folder).sort();
  return computeDigest(
    files.map((file) => `${file}\n${readFileSync(join(folder, file), 'utf8')}`).join('\n'),
  );
}

function computeDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The options of a command that name its inputs and outputs. */
export type Places = Pick<
  Partial<ReplayCommandOptions>,
  'dataset' | 'logs' | 'out' | 'record' | 'junit' | 'html' | 'gate' | 'repeat'
>;

interface Named {
  readonly option: string;
  /** The path with all links resolved. */
  readonly path: string;
  /** A key that is the same for all names of one file; null for a device or pipe, which stores nothing. */
  readonly file: string | null;
}

/**
 * Checks that a replay does not overwrite its cases, that no output is in a folder of logs, where it would
 * become a case of the next run, and that no two outputs are the same file. Throws `invalid-config`.
 */
export async function checkOutputs(options: Places): Promise<void> {
  const inputs = await resolveInputs(options);
  const folders = await Promise.all((options.logs ?? []).map(resolveRealPath));
  const seen: Named[] = [];
  for (const { option, path, file } of await resolveOutputs(options)) {
    const isSame = (output: Named) => file !== null && output.file === file;
    const input = inputs.find(isSame);
    if (input !== undefined)
      throw createRefusedError(`${option} would overwrite the input of ${input.option}: ${path}.`);
    const folder = folders.find((root) => isWithin(path, root));
    if (folder !== undefined)
      throw createRefusedError(
        `${option}: ${path} is in the folder of logs, where it would become a case. Choose another path.`,
      );
    const other = seen.find(isSame);
    if (other !== undefined)
      throw createRefusedError(`${option} and ${other.option} name the same file: ${path}.`);
    seen.push({ option, path, file });
  }
  if (options.html !== undefined && options.out !== undefined) await checkReadable(options.out);
}

/** Checks that the results can be read again for the HTML page. */
async function checkReadable(out: string): Promise<void> {
  const found = await stat(out).catch(() => null);
  if (found !== null && !found.isFile())
    throw createRefusedError(
      `--html rereads the results, so --out must be a file, but ${out} is not. Omit --out, or use a file.`,
    );
}

async function resolveInputs({ dataset = [], gate }: Places): Promise<Named[]> {
  const sets = dataset.map(async (path) =>
    resolveNamed('--dataset', (await findDatasetAt(path).catch(() => null)) ?? path),
  );
  return Promise.all([...sets, ...(gate === undefined ? [] : [resolveNamed('--gate', gate)])]);
}

async function resolveOutputs({ out, record, junit, html, repeat = 1 }: Places): Promise<Named[]> {
  const results =
    out === undefined ? [] : Array.from({ length: repeat }, (_, at) => getRepeatPath(out, at + 1, repeat));
  const named = [
    ...results.flatMap((path) => [path, `${path}.run.json`].map((file) => ({ option: '--out', path: file }))),
    ...(record === undefined ? [] : [{ option: '--record', path: record }]),
    ...(junit === undefined ? [] : [{ option: '--junit', path: junit }]),
    ...(html === undefined ? [] : [{ option: '--html', path: html }]),
  ];
  return Promise.all(named.map(({ option, path }) => resolveNamed(option, path)));
}

async function resolveNamed(option: string, given: string): Promise<Named> {
  const path = await resolveRealPath(given);
  const found = await stat(path).catch(() => null);
  if (found === null) return { option, path, file: path };
  return { option, path, file: found.isFile() ? `${found.dev}:${found.ino}` : null };
}

/** Resolves the real path of a file or, if it does not exist yet, of its folder. */
async function resolveRealPath(path: string): Promise<string> {
  const full = resolve(path);
  const inFolder = () => realpath(dirname(full)).then((folder) => join(folder, basename(full)));
  return realpath(full)
    .catch(inFolder)
    .catch(() => full);
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../');
}

function createRefusedError(sentence: string): TriageError {
  return new TriageError('invalid-config', sentence);
}
