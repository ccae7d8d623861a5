import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { mapInParallel } from '../../lib/collections.ts';
import { createAllowance, listZip, makeSafePath } from '../../log/decode/archive-members.ts';
import { toText } from '../../log/decode/decode.ts';
import type { DocumentFolder, ReadableDocument, UnreadDocument } from '../../ports/document-folder.ts';
import { type DocumentPlace, type DocumentReader, FORMAT_BY_ENDING } from '../../ports/knowledge.ts';

export interface DocumentFolderOptions {
  readonly reader: DocumentReader;
  /** The number of documents that are parsed at once. Default 4. */
  readonly threads?: number;
}

const THREADS = 4;
const MAX_THREADS = 32;
const MAX_DOCUMENTS = 5_000;
const MAX_DEPTH = 12;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
const MAX_ENTRIES = 5_000;
const MAX_LINES = 50_000;
/** Longer lines are cut into several, so that one line cannot fill an answer. */
const MAX_LINE = 1_000;
/** Formats whose lines are those of the file. */
const PLAIN = new Set(['markdown', 'text', 'csv']);
/** Reads, and does not wait for the other end of a pipe. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

interface Kept {
  readonly stamp: string;
  readonly documents: readonly ReadableDocument[];
  readonly unread: readonly UnreadDocument[];
}

/** Opens a folder of PDF, DOCX, XLSX, PPTX, HTML, Markdown and text files, and zip archives of these. */
export function openDocumentFolder(folder: string, options: DocumentFolderOptions): DocumentFolder {
  const { reader, threads = THREADS } = options;
  const root = resolve(folder);
  const kept = new Map<string, Kept>();
  const readAll = async (signal: AbortSignal) => {
    const paths = await listDocuments(root);
    if (paths.length === 0)
      throw new TriageError(
        'invalid-input',
        `${basename(root)} holds no document ` +
          '(PDF, DOCX, XLSX, PPTX, HTML, Markdown, text, or a zip of these).',
      );
    const read = await mapInParallel(paths, Math.min(threads, MAX_THREADS), async (path) => {
      signal.throwIfAborted();
      const known = await readOnce(root, path, reader, kept.get(path), signal);
      kept.set(path, known);
      return known;
    });
    return {
      documents: read.flatMap(({ documents }) => documents),
      unread: read.flatMap(({ unread }) => unread),
    };
  };
  // Tools ask side by side; the documents are parsed once.
  let running: ReturnType<typeof readAll> | undefined;
  return {
    name: basename(root),
    readAll: (signal) => {
      running ??= readAll(signal).finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

/** Lists the documents below a folder by name. Links are not followed. */
async function listDocuments(root: string): Promise<string[]> {
  const found: string[] = [];
  const waiting = [{ path: '', depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, depth } = next;
    const entries = await readdir(join(root, path), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const below = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (entry.isDirectory() && depth < MAX_DEPTH) waiting.push({ path: below, depth: depth + 1 });
      if (entry.isFile() && isDocument(entry.name)) found.push(below);
      if (found.length >= MAX_DOCUMENTS) return found.sort();
    }
  }
  return found.sort();
}

function isDocument(name: string): boolean {
  const ending = extname(name).toLowerCase();
  return ending === '.zip' || ending in FORMAT_BY_ENDING;
}

async function readOnce(
  root: string,
  path: string,
  reader: DocumentReader,
  known: Kept | undefined,
  signal: AbortSignal,
): Promise<Kept> {
  const file = await open(join(root, path), READ).catch(() => null);
  if (file === null) return { stamp: '', documents: [], unread: [{ path, why: 'it cannot be opened' }] };
  try {
    const info = await file.stat();
    const stamp = `${info.size} ${info.mtimeMs}`;
    if (known?.stamp === stamp) return known;
    if (info.size > MAX_BYTES)
      return { stamp, documents: [], unread: [{ path, why: 'it is larger than 32 MB' }] };
    const bytes = await file.readFile();
    return { stamp, ...(await readBytes(path, bytes, reader, signal)) };
  } finally {
    await file.close();
  }
}

async function readBytes(
  path: string,
  bytes: Uint8Array,
  reader: DocumentReader,
  signal: AbortSignal,
): Promise<Omit<Kept, 'stamp'>> {
  try {
    if (extname(path).toLowerCase() === '.zip') return await readZip(path, bytes, reader, signal);
    return { documents: [await readOne(path, bytes, reader, signal)], unread: [] };
  } catch (error) {
    if (signal.aborted) throw error;
    return { documents: [], unread: [{ path, why: getErrorMessage(error) }] };
  }
}

/** Reads the documents of an archive, not those of archives in it. Nothing is written to disk. */
async function readZip(
  path: string,
  bytes: Uint8Array,
  reader: DocumentReader,
  signal: AbortSignal,
): Promise<Omit<Kept, 'stamp'>> {
  const allowance = createAllowance(MAX_ARCHIVE_BYTES, MAX_ENTRIES);
  const members = await listZip(path, bytes, allowance);
  const documents: ReadableDocument[] = [];
  const unread: UnreadDocument[] = [];
  for (const member of members) {
    const name = `${path}/${makeSafePath(member.path)}`;
    if (!(extname(name).toLowerCase() in FORMAT_BY_ENDING)) continue;
    try {
      documents.push(await readOne(name, await member.read(), reader, signal));
    } catch (error) {
      if (signal.aborted) throw error;
      unread.push({ path: name, why: getErrorMessage(error) });
    }
  }
  return { documents, unread };
}

async function readOne(
  path: string,
  bytes: Uint8Array,
  reader: DocumentReader,
  signal: AbortSignal,
): Promise<ReadableDocument> {
  const { format, title, blocks } = await reader.read({ name: path, bytes }, signal);
  if (PLAIN.has(format)) {
    const lines = toText(path, bytes).text.split(/\r?\n/);
    const heading = lines.find((line) => /^#{1,3} \S/.test(line))?.replace(/^#{1,3} /, '') ?? null;
    return toDocument(
      path,
      title ?? heading,
      lines.map((text) => ({ text, place: null })),
    );
  }
  const heading = blocks.find((block) => block.heading !== null)?.text ?? null;
  const lines = blocks.flatMap(({ text, place }, index) => {
    const where = describePlace(place) ?? `paragraph ${index + 1}`;
    return text.split('\n').map((line) => ({ text: line, place: where }));
  });
  return toDocument(path, title ?? heading, lines);
}

function toDocument(
  path: string,
  title: string | null,
  read: readonly { readonly text: string; readonly place: string | null }[],
): ReadableDocument {
  const lines: string[] = [];
  const places: (string | null)[] = [];
  for (const { text, place } of read.slice(0, MAX_LINES)) {
    for (let at = 0; at === 0 || at < text.length; at += MAX_LINE) {
      lines.push(text.slice(at, at + MAX_LINE));
      places.push(place);
      if (lines.length >= MAX_LINES) return { path, title, lines, places };
    }
  }
  return { path, title, lines, places };
}

function describePlace({ page, slide, sheet, row }: DocumentPlace): string | null {
  if (page !== undefined) return `page ${page}`;
  if (slide !== undefined) return `slide ${slide}`;
  if (sheet === undefined) return null;
  return row === undefined ? `sheet ${sheet}` : `sheet ${sheet}, row ${row}`;
}
