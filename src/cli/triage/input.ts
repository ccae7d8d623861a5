import { accessSync, constants, createReadStream, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { SourceKind, SourceText } from '../../domain/build.ts';
import { getErrorReason, TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/collections.ts';
import { formatCount } from '../../lib/text.ts';
import { decodeSources } from '../../log/decode/archive.ts';
import { planTexts } from '../../log/decode/archive-members.ts';
import {
  type ArtifactRoom,
  createArtifactRoom,
  createNameOnly,
  openArtifact,
} from '../../log/inventory/open-artifact.ts';
import { maskFile } from '../../log/mask/file.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { LogInPieces } from '../../log/read-log.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { say } from '../terminal.ts';

const MAX_FILES = 500;
/**
 * The names of files that are read in a directory. A directory that is not an unpacked archive also contains
 * files without an extension that are not logs.
 */
const FILES = /\.(?:log|txt|out|xml|trx|tap|json|jsonl|sarif|gz|tgz|zst|zip|tar)$/i;
const MAX_NOTES = 10;
/** The maximum size of one further file, compressed or not. */
const MAX_ARTIFACT_BYTES = 64 * 1024 * 1024;
const NO_CONTENT =
  ' with any content (.log, .txt, .out; .xml, .json, .trx for test reports; .gz, .zip, .tar of these).';
const SETS_THE_LIMIT = 'FAULTLINE_MAX_LOG_BYTES sets the limit.';

/**
 * Reads the input of the command line: a file, an archive, a directory (every log, test report and archive
 * below it), or `-` for standard input. `maxBytes` limits each text and their total size. `isFound` refuses a
 * file that is neither a log nor a report. Throws TriageError with a sentence that says what to do.
 */
export async function readInput(path: string, maxBytes: number, isFound = false): Promise<SourceText[]> {
  if (path === '-') return dropEmpty('standard input', await readStandardInput(maxBytes));
  const info = await stat(path).catch((cause: unknown) => {
    throw createUnreadableError(path, cause);
  });
  if (!info.isDirectory())
    return dropEmpty(path, await readFileSources(path, basename(path), maxBytes, { onlySources: isFound }));
  return readDirectory(path, maxBytes);
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * A file that is answered separately. `isFound` is true if it was found in a directory instead of named, so
 * it may be neither a log nor a report.
 */
export interface ListedInput {
  readonly path: string;
  readonly isFound: boolean;
}

/**
 * Lists the inputs that are answered one by one: the files of a directory that may be logs, reports or
 * archives, or the file itself.
 */
export async function listInputs(path: string): Promise<ListedInput[]> {
  if (!isDirectory(path)) return [{ path, isFound: false }];
  const files = await listFiles(path, []);
  if (files.length === 0)
    throw new TriageError('invalid-input', `${toVisibleLine(path)} contains no log or report${NO_CONTENT}`);
  return files.map((file) => ({ path: join(path, file), isFound: true }));
}

/**
 * Reads test reports that were named individually. Other content of an archive among them is read as well.
 */
export async function readReports(paths: readonly string[], maxBytes: number): Promise<SourceText[]> {
  return (
    await Promise.all(
      paths.map((path) => readFileSources(path, basename(path), maxBytes, { kind: 'report' })),
    )
  ).flat();
}

/**
 * Reads further files of a build: reports, logs of servers under test, crash reports, archives and
 * directories of these. They keep the given path as their name, because a log refers to them by it. A file
 * that is not text or too large is listed only by name. Throws if a file is unreadable.
 */
export async function readArtifacts(paths: readonly string[], maxBytes: number): Promise<SourceText[]> {
  const room = createArtifactRoom(maxBytes);
  const sources: SourceText[] = [];
  for (const path of paths) {
    const info = await stat(path).catch((cause: unknown) => {
      throw createUnreadableError(path, cause);
    });
    const files = info.isDirectory()
      ? (await listFilesBelow(path, path, [])).map((file) => join(path, file))
      : [path];
    for (const file of files.slice(0, room.files)) append(sources, await readArtifact(file, room));
  }
  return sources;
}

async function readArtifact(path: string, room: ArtifactRoom): Promise<SourceText[]> {
  const name = toVisibleLine(path);
  room.files -= 1;
  try {
    return await openArtifact(name, await readAll(createReadStream(path), path, MAX_ARTIFACT_BYTES), room);
  } catch (error) {
    if (!(error instanceof TriageError) || error.code === 'not-found') throw error;
    return [createNameOnly(name, error.message)];
  }
}

/** Reads a directory. A file that is not text is skipped with a note, so that it does not hide the others. */
async function readDirectory(folder: string, maxBytes: number): Promise<SourceText[]> {
  const notes: string[] = [];
  const files = await listFiles(folder, notes);
  const sources: SourceText[] = [];
  let bytes = 0;
  for (const file of files) {
    try {
      const read = await readFileSources(join(folder, file), file, maxBytes - bytes, { onlySources: true });
      bytes += read.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
      const known = read.filter(({ text }) => text.trim() !== '');
      append(sources, known);
    } catch (error) {
      if (!(error instanceof TriageError) || error.code === 'too-large') throw error;
      notes.push(`Skipped: ${error.message}`);
    }
  }
  const more = notes.length - MAX_NOTES;
  if (more > 0) notes.splice(MAX_NOTES, notes.length, `Skipped: ${formatCount(more, 'more file')}.`);
  const [first, ...rest] = sources;
  if (first !== undefined) return [{ ...first, notes: [...first.notes, ...notes] }, ...rest];
  const why = notes.length > 0 ? ` that can be read. ${notes.join(' ')}` : NO_CONTENT;
  throw new TriageError('invalid-input', `${toVisibleLine(folder)} contains no log or report${why}`);
}

/**
 * Lists the paths below the folder. If it is an unpacked log archive of GitHub Actions, a job's log is read
 * once, not again step by step.
 */
async function listFiles(folder: string, notes: string[]): Promise<string[]> {
  const paths = await listFilesBelow(folder, folder, notes);
  const files = planTexts(paths.filter((path) => FILES.test(path))).flatMap(({ parts }) => parts);
  if (files.length <= MAX_FILES) return files;
  const many =
    `${toVisibleLine(folder)} contains ${files.length} logs and reports; the limit is ${MAX_FILES}. ` +
    'Choose a smaller folder.';
  throw new TriageError('too-large', many);
}

/** Lists the paths of all files, relative to `top`. A folder that cannot be opened is skipped with a note. */
async function listFilesBelow(folder: string, top: string, notes: string[]): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    const error = createUnreadableError(folder, cause);
    if (folder === top) throw error;
    notes.push(`Skipped: ${error.message}`);
    return [];
  });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => relative(top, join(folder, name)));
  for (const { name } of entries.filter((entry) => entry.isDirectory()))
    append(paths, await listFilesBelow(join(folder, name), top, notes));
  return paths;
}

interface How {
  readonly kind?: SourceKind;
  readonly onlySources?: boolean;
}

async function readFileSources(
  path: string,
  name: string,
  maxBytes: number,
  how: How = {},
): Promise<SourceText[]> {
  const bytes = await readAll(createReadStream(path), path, maxBytes);
  // A name may contain line ends and escapes, which messages and sources must not.
  return decodeInput(
    toVisibleLine(path),
    toVisibleLine(name).replace(/\.(?:gz|zst)$/i, ''),
    bytes,
    maxBytes,
    how,
  );
}

async function readStandardInput(maxBytes: number): Promise<SourceText[]> {
  if (process.stdin.isTTY === true) say('reading standard input; press Ctrl-D to end');
  return decodeInput(
    'standard input',
    'stdin',
    await readAll(process.stdin, 'standard input', maxBytes),
    maxBytes,
    {},
  );
}

/** Reads to the end, but not beyond the limit, because the path may name a device or pipe without an end. */
async function readAll(stream: AsyncIterable<unknown>, path: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      size += bytes.length;
      if (size > maxBytes) throw createTooLargeError(path, maxBytes);
      chunks.push(bytes);
    }
  } catch (error) {
    throw error instanceof TriageError ? error : createUnreadableError(path, error);
  }
  return Buffer.concat(chunks);
}

/** Decodes an input. Messages name the file as the user did; sources are named without its folder. */
async function decodeInput(
  path: string,
  name: string,
  bytes: Buffer,
  maxBytes: number,
  how: How,
): Promise<SourceText[]> {
  try {
    const { kind = 'log', onlySources = false } = how;
    const sources = await decodeSources(path, bytes, kind, { maxBytes, onlySources });
    return sources.map((source) => ({
      ...source,
      name: source.name === path ? name : `${name}${source.name.slice(path.length)}`,
    }));
  } catch (error) {
    if (!(error instanceof TriageError) || error.code !== 'too-large') throw error;
    if (!error.message.includes('refused')) throw createTooLargeError(path, maxBytes);
    throw error.message.includes('the limit')
      ? new TriageError('too-large', `${error.message} ${SETS_THE_LIMIT}`, { cause: error })
      : error;
  }
}

function dropEmpty(path: string, sources: SourceText[]): SourceText[] {
  if (sources.some(({ text }) => text.trim() !== '')) return sources;
  const what = sources.some(({ text }) => text !== '') ? 'contains only whitespace' : 'is empty';
  throw new TriageError('invalid-input', `${toVisibleLine(path)} ${what}: there is nothing to analyze.`);
}

function createTooLargeError(path: string, maxBytes: number): TriageError {
  const limit = `${Math.round(maxBytes / 1024 / 1024).toLocaleString('en-US')} MiB`;
  return new TriageError(
    'too-large',
    `${toVisibleLine(path)} exceeds the limit of ${limit} when unpacked. ${SETS_THE_LIMIT}`,
  );
}

function createUnreadableError(path: string, cause: unknown): TriageError {
  return new TriageError('not-found', `${toVisibleLine(path)} cannot be read: ${getErrorReason(cause)}.`, {
    cause,
  });
}

/** A masked log that stays in its file. Its bytes must not be read after `close`. */
export interface LargeLog {
  readonly source: LogInPieces;
  /** The number of hidden secrets. */
  readonly secrets: number;
  close(): void;
}

/** The size in bytes above which a log is read from its file, piece by piece. */
const LARGE = 32 * 1024 * 1024;

/**
 * Opens a large log without loading it whole. Returns null for small files, for files that are not plain text
 * (see {@link maskFile}), and for unreadable files, whose error the next reader reports.
 */
export async function openLargeLog(path: string, masker: Masker): Promise<LargeLog | null> {
  const file = isLargeFile(path) ? await maskFile(path, masker) : null;
  if (file === null) return null;
  const { secrets, close, ...log } = file;
  const source: LogInPieces = { ...log, name: toVisibleLine(basename(path)), kind: 'log' };
  return { source, secrets, close };
}

function isLargeFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    const info = statSync(path);
    return info.isFile() && info.size > LARGE;
  } catch {
    return false;
  }
}
