import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import { datasetAt } from '../../replay/cases/folder.ts';
import type { ReplayCommandOptions } from './replay-options.ts';
import { repeatPath } from './run-files.ts';

/** What is read and what is written, of the options of a command. */
export type Places = Pick<Partial<ReplayCommandOptions>, 'dataset' | 'logs' | 'out' | 'record' | 'junit' | 'html' | 'gate' | 'repeat'>;

interface Named {
  readonly option: string;
  /** Real: links are seen through. */
  readonly path: string;
  /** The same for one file by all its names; null for a device or a pipe, which holds nothing. */
  readonly file: string | null;
}

/**
 * Nothing that a replay writes may stand where its cases are: a data set would be gone before it is read, and results in a folder of
 * logs would be cases of the next run. Nor may two of them be one file. Throws `invalid-config`.
 */
export async function checkOutputs(options: Places): Promise<void> {
  const inputs = await inputsOf(options);
  const folders = await Promise.all((options.logs ?? []).map(realPath));
  const seen: Named[] = [];
  for (const { option, path, file } of await outputsOf(options)) {
    const isSame = (one: Named) => file !== null && one.file === file;
    const input = inputs.find(isSame);
    if (input !== undefined) throw refused(`${option} would overwrite the input of ${input.option}: ${path}.`);
    const folder = folders.find((one) => isWithin(path, one));
    if (folder !== undefined)
      throw refused(`${option}: ${path} is in the folder of logs, where it would become a case. Choose another path.`);
    const other = seen.find(isSame);
    if (other !== undefined) throw refused(`${option} and ${other.option} name the same file: ${path}.`);
    seen.push({ option, path, file });
  }
  if (options.html !== undefined && options.out !== undefined) await checkReadable(options.out);
}

/** The page tells what stands in the results, which are read again for it. */
async function checkReadable(out: string): Promise<void> {
  const found = await stat(out).catch(() => null);
  if (found !== null && !found.isFile())
    throw refused(`--html rereads the results, so --out must be a file, but ${out} is not. Omit --out, or use a file.`);
}

async function inputsOf({ dataset = [], gate }: Places): Promise<Named[]> {
  const sets = dataset.map(async (path) => namedAt('--dataset', (await datasetAt(path).catch(() => null)) ?? path));
  return Promise.all([...sets, ...(gate === undefined ? [] : [namedAt('--gate', gate)])]);
}

async function outputsOf({ out, record, junit, html, repeat = 1 }: Places): Promise<Named[]> {
  const results = out === undefined ? [] : Array.from({ length: repeat }, (_, at) => repeatPath(out, at + 1, repeat));
  const named = [
    ...results.flatMap((path) => [path, `${path}.run.json`].map((one) => ({ option: '--out', path: one }))),
    ...(record === undefined ? [] : [{ option: '--record', path: record }]),
    ...(junit === undefined ? [] : [{ option: '--junit', path: junit }]),
    ...(html === undefined ? [] : [{ option: '--html', path: html }]),
  ];
  return Promise.all(named.map(({ option, path }) => namedAt(option, path)));
}

async function namedAt(option: string, given: string): Promise<Named> {
  const path = await realPath(given);
  const found = await stat(path).catch(() => null);
  if (found === null) return { option, path, file: path };
  return { option, path, file: found.isFile() ? `${found.dev}:${found.ino}` : null };
}

/** Of what is there, or else of the folder it will be in. */
async function realPath(path: string): Promise<string> {
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

function refused(sentence: string): TriageError {
  return new TriageError('invalid-config', sentence);
}
