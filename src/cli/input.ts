import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { SourceKind, SourceText } from '../domain/build.ts';
import { messageOf, TriageError } from '../domain/errors.ts';
import { decodeSource } from '../log/decode.ts';
import { say } from './terminal.ts';

const MAX_FILES = 500;
/** Folders below a directory that hold other people's texts. */
const SKIPPED = new Set(['.git', 'node_modules']);

/**
 * Reads what the command line names: a file, a directory (every log and JUnit report below it), or `-` for standard input.
 * `maxBytes` limits each text, and all of them together. Throws TriageError with a sentence that says what to do.
 */
export async function readInput(path: string, maxBytes: number): Promise<SourceText[]> {
  if (path === '-') return [nonEmpty('standard input', await readStandardInput(maxBytes))];
  const info = await stat(path).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  if (!info.isDirectory()) return [nonEmpty(path, await readSource(path, basename(path), maxBytes))];
  return readDirectory(path, maxBytes);
}

/** Reads JUnit XML reports given one by one. */
export async function readReports(paths: readonly string[], maxBytes: number): Promise<SourceText[]> {
  return Promise.all(paths.map((path) => readSource(path, basename(path), maxBytes, 'report')));
}

/** What is no text is left out with a note: one stray file must not hide the others. */
async function readDirectory(folder: string, maxBytes: number): Promise<SourceText[]> {
  const files = await listFiles(folder);
  const sources: SourceText[] = [];
  const notes: string[] = [];
  let bytes = 0;
  for (const file of files) {
    try {
      const source = await readSource(file, relative(folder, file), maxBytes - bytes);
      bytes += Buffer.byteLength(source.text);
      if (source.text.trim() !== '') sources.push(source);
    } catch (error) {
      if (!(error instanceof TriageError) || error.code === 'too-large') throw error;
      notes.push(`Left out: ${error.message}`);
    }
  }
  const [first, ...rest] = sources;
  if (first !== undefined) return [{ ...first, notes: [...first.notes, ...notes] }, ...rest];
  const why =
    notes.length > 0 ? ` that can be read. ${notes.join(' ')}` : ' with anything in it (.log, .txt, .out, .gz; .xml for JUnit reports).';
  throw new TriageError('invalid-input', `${folder} holds no log and no report${why}`);
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && /\.(?:log|txt|out|xml|gz)$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (file) =>
        !relative(folder, file)
          .split(/[/\\]/)
          .some((part) => SKIPPED.has(part)),
    )
    .sort();
  if (files.length <= MAX_FILES) return files;
  const many = `${folder} holds ${files.length} logs and reports; at most ${MAX_FILES} are read at once. Name a smaller folder.`;
  throw new TriageError('too-large', many);
}

async function readSource(path: string, name: string, maxBytes: number, kind?: SourceKind): Promise<SourceText> {
  const bytes = await readAll(createReadStream(path), path, maxBytes);
  return decoded(path, name.replace(/\.gz$/, ''), bytes, kind ?? (/\.xml(?:\.gz)?$/i.test(name) ? 'report' : 'log'), maxBytes);
}

async function readStandardInput(maxBytes: number): Promise<SourceText> {
  if (process.stdin.isTTY === true) say('reading standard input; Ctrl-D ends it');
  return decoded('standard input', 'stdin', await readAll(process.stdin, 'standard input', maxBytes), 'log', maxBytes);
}

/** Reads to the end, but never beyond the limit: the path may name a device or a pipe that has no end. */
async function readAll(stream: AsyncIterable<unknown>, path: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      size += bytes.length;
      if (size > maxBytes) throw tooLarge(path, maxBytes);
      chunks.push(bytes);
    }
  } catch (error) {
    throw error instanceof TriageError ? error : unreadable(path, error);
  }
  return Buffer.concat(chunks);
}

/** Sentences name the file as the person named it. */
function decoded(path: string, name: string, bytes: Buffer, kind: SourceKind, maxBytes: number): SourceText {
  try {
    return { ...decodeSource(path, bytes, kind, { maxBytes }), name };
  } catch (error) {
    if (!(error instanceof TriageError)) throw error;
    if (error.code === 'too-large') throw tooLarge(path, maxBytes);
    if (error.code !== 'unsupported-type' || !error.message.includes('archive')) throw error;
    throw new TriageError(error.code, `${error.message} Unpack it and give the folder.`, { cause: error });
  }
}

function nonEmpty(path: string, source: SourceText): SourceText {
  if (source.text.trim() !== '') return source;
  throw new TriageError('invalid-input', `${path} is empty: there is nothing to analyse.`);
}

function tooLarge(path: string, maxBytes: number): TriageError {
  const limit = `${Math.round(maxBytes / 1024 / 1024).toLocaleString('en-US')} MiB`;
  return new TriageError(
    'too-large',
    `${path} is larger than the limit of ${limit} once unpacked. FAULTLINE_MAX_LOG_BYTES sets the limit.`,
  );
}

function unreadable(path: string, cause: unknown): TriageError {
  return new TriageError('not-found', `${path} cannot be read: ${reasonOf(cause)}.`, { cause });
}

/** People's words for what the system says most often. */
function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'permission denied';
  return messageOf(cause);
}
