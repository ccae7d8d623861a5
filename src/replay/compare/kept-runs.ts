import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import type { ComparedRuns, KeptRun, KeptRuns } from '../../ports/kept-runs.ts';
import type { CaseOutcome } from '../cases/case.ts';
import { SET_FILE } from '../cases/folder.ts';
import { parseManifest, type RunManifest } from '../run/manifest.ts';

const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;
const RESULTS = /^results(?:\.\d+)?\.jsonl$/;
/**
 * The file mode of labels and results. Only the owner has access, because they may quote what people wrote.
 */
const OWNER_ONLY = { mode: 0o600 };
const REMEMBERED = 20;
const MAX_HEAP_MB = 1_024;
const THREAD_MS = 120_000;

/**
 * Creates the folder of a run, and returns the path of its results. Throws `conflict` if the name is taken,
 * unless the run is continued.
 */
export async function makeRoom(folder: string, name: string, isResumed: boolean): Promise<string> {
  if (!NAME.test(name))
    throw new TriageError(
      'invalid-config',
      `--keep: "${name}" is no name for a run; use letters, digits, dots, dashes and underscores.`,
    );
  const runFolder = join(folder, name);
  const isTaken = (await stat(runFolder).catch(() => null)) !== null;
  if (isTaken && !isResumed)
    throw new TriageError('conflict', `--keep: there is a run named ${name} already. Choose another name.`);
  await mkdir(runFolder, { recursive: true });
  return join(runFolder, 'results.jsonl');
}

/** Stores the labels of the cases, without their logs, next to the results. */
export async function keepLabels(
  folder: string,
  name: string,
  sources: readonly AsyncIterable<CaseOutcome>[],
): Promise<void> {
  const rows: string[] = [];
  for (const cases of sources) {
    for await (const outcome of cases) {
      if ('error' in outcome) continue;
      const { log: _log, stack_trace: _trace, snippets: _snippets, ...row } = outcome.one.row;
      rows.push(`${JSON.stringify(row)}\n`);
    }
  }
  await writeFile(join(folder, name, SET_FILE), rows.join(''), OWNER_ONLY);
}

/**
 * Opens the runs that are kept in a folder. They are compared in a thread, one pair at a time, so that no
 * page is blocked. The latest comparisons are cached.
 */
export function createKeptRuns(folder: string): KeptRuns {
  const compared = new Map<string, Promise<ComparedRuns>>();
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (folders: readonly string[]) => {
    const next = last.then(async () => await compareInThread(folders));
    last = next.catch(() => undefined);
    return next;
  };
  return {
    list: async () => await listRuns(folder),
    compare: async (baseline, candidate) => {
      const chosen = [baseline, candidate].map((name) => ({ name, own: join(folder, name) }));
      const stamps: string[] = [];
      for (const { name, own } of chosen) stamps.push(await readStamp(name, own));
      const key = stamps.join(' ');
      const known = compared.get(key) ?? inTurn(chosen.map(({ own }) => own));
      compared.set(key, known);
      const [oldest] = compared.keys();
      if (compared.size > REMEMBERED && oldest !== undefined) compared.delete(oldest);
      return await known.catch((error: unknown) => {
        compared.delete(key);
        throw new TriageError('invalid-input', getErrorMessage(error).replaceAll(`${folder}/`, ''), {
          cause: error,
        });
      });
    },
  };
}

/** Lists the runs kept in a folder, newest first. */
export async function listRuns(folder: string): Promise<KeptRun[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const runs: KeptRun[] = [];
  for (const { name } of entries.filter((entry) => entry.isDirectory() && NAME.test(entry.name))) {
    const manifest = await findManifestIn(join(folder, name));
    if (manifest !== null) runs.push({ name, ...manifest });
  }
  return runs.sort((left, right) => (left.startedAt < right.startedAt ? 1 : -1));
}

/** Lists the results files of a run; several files are its repeats. */
export async function listResultsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => RESULTS.test(name))
    .sort()
    .map((name) => join(folder, name));
}

export async function findManifestIn(folder: string): Promise<RunManifest | null> {
  const [first] = await listResultsIn(folder);
  return first === undefined
    ? null
    : parseManifest(await readFile(`${first}.run.json`, 'utf8').catch(() => ''));
}

/** Returns a stamp that changes with the results, which grow while a run is unfinished. */
async function readStamp(name: string, folder: string): Promise<string> {
  const paths = NAME.test(name) ? await listResultsIn(folder) : [];
  if (paths.length === 0) throw new TriageError('not-found', `There is no run named ${name.slice(0, 100)}.`);
  const found = await Promise.all(paths.map((path) => stat(path)));
  return `${name}:${found.map(({ mtimeMs, size }) => `${mtimeMs}-${size}`).join(',')}`;
}

function compareInThread(folders: readonly string[]): Promise<ComparedRuns> {
  const entry = new URL(`./compare-worker${extname(import.meta.url)}`, import.meta.url);
  const { promise, resolve, reject } = Promise.withResolvers<ComparedRuns>();
  const worker = new Worker(entry, {
    workerData: folders,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  worker.unref();
  const limit = setTimeout(() => void worker.terminate(), THREAD_MS).unref();
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => {
    clearTimeout(limit);
    reject(
      new TriageError(
        'internal',
        'The comparison ended without a result: it took too long, or too much memory.',
      ),
    );
  });
  return promise;
}
