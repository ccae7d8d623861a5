import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { messageOf, TriageError } from '../../domain/errors.ts';
import {
  createResults,
  differencesOf,
  parseManifest,
  type ResultsFile,
  type RunManifest,
  resumeResults,
} from '../../replay/run/results-file.ts';

/** Where the results of a run go, and what becomes of them in the end. */
export interface RunFiles {
  readonly results: ResultsFile;
  /** Whether an earlier run's results stand in front. */
  readonly resumed: boolean;
  /** Closes the results; those that nobody asked for are removed. */
  close(): Promise<void>;
}

/**
 * Opens the results of a run at `path`: anew, over what is there, or behind what the same run left. Throws `conflict` where the earlier run
 * was another one. What the run is made of stands in `PATH.run.json` beside them.
 */
export async function openRunFiles(path: string, isResumed: boolean, manifest: RunManifest): Promise<RunFiles> {
  if (isResumed) await checkEarlier(path, manifest);
  const results = isResumed ? await resumeResults(path) : await createResults(path);
  if ((await stat(path)).isFile()) await writeManifest(path, manifest);
  return { results, resumed: isResumed, close: () => results.close() };
}

/** Results that only the report reads: they are gone when it is written. */
export async function openPassingFiles(): Promise<RunFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-results-'));
  const results = await createResults(join(folder, 'results.jsonl'));
  const close = async () => {
    await results.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { results, resumed: false, close };
}

/** "results.jsonl" → "results.2.jsonl"; the same for a run that is made only once. */
export function repeatPath(path: string, repeat: number, repeats: number): string {
  if (repeats === 1) return path;
  const ending = extname(path);
  return `${path.slice(0, path.length - ending.length)}.${repeat}${ending}`;
}

async function checkEarlier(path: string, manifest: RunManifest): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.size === 0) return;
  if (!found.isFile()) throw new TriageError('invalid-input', `--resume: ${path} is not a file.`);
  const earlier = parseManifest(await readFile(manifestPath(path), 'utf8').catch(() => ''));
  if (earlier === null)
    throw new TriageError(
      'conflict',
      `--resume: ${manifestPath(path)} does not record how ${path} was created, so it cannot be continued. Replay it again without --resume.`,
    );
  const differences = differencesOf(earlier, manifest);
  if (differences.length > 0)
    throw new TriageError(
      'conflict',
      `--resume: ${path} belongs to another run: ${differences.join('; ')}. Replay it again without --resume, or use another --out.`,
    );
}

async function writeManifest(path: string, manifest: RunManifest): Promise<void> {
  await writeFile(manifestPath(path), `${JSON.stringify(manifest, null, 2)}\n`).catch((cause: unknown) => {
    throw new TriageError('storage-failed', `${manifestPath(path)} cannot be written: ${messageOf(cause)}.`, { cause });
  });
}

function manifestPath(path: string): string {
  return `${path}.run.json`;
}
