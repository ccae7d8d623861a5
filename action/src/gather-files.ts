import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { glob } from 'tinyglobby';
import type { NewBuild, SourceKind } from '../../src/domain/build.ts';
import { getErrorMessage, TriageError } from '../../src/domain/errors.ts';
import type { UploadedFile } from '../../src/service/intake/upload.ts';
import type { Environment, Inputs } from './inputs.ts';

/**
 * Size limit of all files together, in bytes. A server has the same limit if FAULTLINE_MAX_LOG_BYTES is not
 * set.
 */
export const MAX_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 200;

/**
 * Returns the files to read: the named files, and the logs of the run's failed jobs if no log is named.
 * Throws `not-found` if there are none.
 */
export async function gatherFiles(
  inputs: Inputs,
  build: NewBuild,
  environment: Environment,
): Promise<readonly UploadedFile[]> {
  const named = await readNamedFiles(inputs, environment);
  const logs =
    inputs.log.length === 0 && inputs.githubToken !== ''
      ? await listJobLogs(inputs.githubToken, build, environment)
      : [];
  const files = [...named, ...logs];
  if (files.length > 0) return files;
  throw new TriageError(
    'not-found',
    inputs.log.length + inputs.reports.length === 0
      ? 'Nothing to read: set the input "log" or "reports", or pass "github-token" in a job that needs ' +
          'the failed one.'
      : `No file found at ${[...inputs.log, ...inputs.reports].join(', ')}: did the step that writes it run?`,
  );
}

/** Reads the files that `log` and `reports` name, if they exist. */
export async function readNamedFiles(
  { log, reports }: Pick<Inputs, 'log' | 'reports'>,
  environment: Environment,
): Promise<UploadedFile[]> {
  const folder = environment.GITHUB_WORKSPACE ?? '.';
  return [
    ...(await readMatchingFiles(log, 'log', folder)),
    ...(await readMatchingFiles(reports, 'report', folder)),
  ];
}

async function readMatchingFiles(
  patterns: readonly string[],
  kind: SourceKind,
  folder: string,
): Promise<UploadedFile[]> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    // A path may contain characters of a glob, so a file of exactly this name takes precedence.
    if (await isFile(resolve(folder, pattern))) found.add(pattern);
    // Node's own glob exists only since version 22.
    else
      for (const path of await glob(pattern, {
        cwd: folder,
        dot: true,
        expandDirectories: false,
        followSymbolicLinks: false,
      }))
        found.add(path);
    if (found.size > MAX_FILES)
      throw new TriageError('too-large', `${pattern} matches more than ${MAX_FILES} files.`);
  }
  const files: UploadedFile[] = [];
  let room = MAX_BYTES;
  for (const path of [...found].sort()) {
    const bytes = await readWithin(resolve(folder, path), path, room);
    room -= bytes.length;
    if (bytes.length > 0) files.push({ name: path.slice(-200), kind, bytes });
  }
  return files;
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (info) => info.isFile(),
    () => false,
  );
}

async function readWithin(path: string, name: string, room: number): Promise<Uint8Array> {
  const file = await open(path).catch((cause: unknown) => {
    throw new TriageError('not-found', `${name} cannot be read: ${getErrorMessage(cause)}.`, { cause });
  });
  try {
    const { size } = await file.stat();
    if (size > room)
      throw new TriageError(
        'too-large',
        `${name} and the files read before it exceed ${MAX_BYTES / 1024 / 1024} MB.`,
      );
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function listJobLogs(
  token: string,
  build: NewBuild,
  environment: Environment,
): Promise<UploadedFile[]> {
  const { fetchJobLogs } = await import('./fetch-job-logs.ts');
  return await fetchJobLogs(build, {
    token,
    baseUrl: environment.GITHUB_API_URL ?? 'https://api.github.com',
    maxBytes: MAX_BYTES,
  });
}
