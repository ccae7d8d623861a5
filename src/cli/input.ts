import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { SourceKind, SourceText } from '../domain/build.ts';
import { messageOf, TriageError } from '../domain/errors.ts';
import { decodeSource } from '../log/decode.ts';

const MAX_FILES = 500;

/** Reads what the command line names: a file, a directory (every log and JUnit report below it), or `-` for standard input. */
export async function readInput(path: string, maxBytes: number): Promise<SourceText[]> {
  if (path === '-') return [nonEmpty(decodeSource('stdin', await readStdin(maxBytes), 'log', { maxBytes }))];
  const info = await stat(path).catch((cause: unknown) => {
    throw new TriageError('not-found', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  });
  if (!info.isDirectory()) return [nonEmpty(await readSource(path, basename(path), maxBytes))];
  const sources = await readDirectory(path, maxBytes);
  if (sources.length === 0)
    throw new TriageError('invalid-input', `${path} holds no log (.log, .txt, .out, .gz) and no JUnit report (.xml)`);
  return sources;
}

/** Reads JUnit XML reports given one by one. */
export async function readReports(paths: readonly string[], maxBytes: number): Promise<SourceText[]> {
  return Promise.all(paths.map((path) => readSource(path, basename(path), maxBytes, 'report')));
}

async function readDirectory(folder: string, maxBytes: number): Promise<SourceText[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile() && /\.(?:log|txt|out|xml|gz)$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  if (files.length > MAX_FILES) {
    throw new TriageError(
      'too-large',
      `${folder} holds ${files.length} logs and reports; at most ${MAX_FILES} are read at once. Name a smaller folder.`,
    );
  }
  return Promise.all(files.map((file) => readSource(file, relative(folder, file), maxBytes)));
}

async function readSource(path: string, name: string, maxBytes: number, kind?: SourceKind): Promise<SourceText> {
  try {
    const bytes = await readFile(path);
    return decodeSource(name.replace(/\.gz$/, ''), bytes, kind ?? (/\.xml(?:\.gz)?$/i.test(name) ? 'report' : 'log'), { maxBytes });
  } catch (error) {
    if (error instanceof TriageError) throw error;
    throw new TriageError('not-found', `${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function nonEmpty(source: SourceText): SourceText {
  if (source.text.trim() !== '') return source;
  throw new TriageError('invalid-input', `${source.name} is empty: there is nothing to analyse`);
}

async function readStdin(maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size > maxBytes) throw new TriageError('too-large', `Standard input is larger than ${maxBytes} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
