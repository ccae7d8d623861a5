import { readdir, stat } from 'node:fs/promises';
import { extname, join, relative, resolve, sep } from 'node:path';
import { messageOf, TriageError } from '../domain/errors.ts';
import { append } from '../lib/lists.ts';
import { FORMAT_BY_ENDING } from '../ports/knowledge.ts';

/** A file to be brought, and the name under which it is kept. */
export interface KnowledgeFile {
  readonly path: string;
  readonly source: string;
}

export interface KnowledgeFiles {
  readonly files: readonly KnowledgeFile[];
  /** Names that folders give to what lies in them: what is kept under one and is no longer there, is gone. */
  readonly folders: readonly string[];
}

const MAX_FILES = 10_000;

/**
 * The documents at these paths; folders are read with all that is in them, except what is hidden or installed. Links are not followed. `name`
 * replaces the path in the names. Throws `not-found`, and `invalid-input` for a folder without any document.
 */
export async function findKnowledgeFiles(paths: readonly string[], name: string | undefined): Promise<KnowledgeFiles> {
  if (name !== undefined && paths.length !== 1) throw new TriageError('invalid-config', '--source takes exactly one path.');
  const files: KnowledgeFile[] = [];
  const folders: string[] = [];
  for (const path of paths) {
    const source = name ?? sourceOf(path);
    const kind = await stat(path).catch((cause: unknown) => {
      throw new TriageError('not-found', `${path} cannot be read: ${messageOf(cause)}`, { cause });
    });
    if (!kind.isDirectory()) {
      files.push({ path, source });
      continue;
    }
    const inside = await documentsIn(path);
    if (inside.length === 0) throw new TriageError('invalid-input', `${path} contains no readable document.`);
    folders.push(source);
    for (const file of inside) files.push({ path: file, source: underFolder(source, relative(path, file)) });
  }
  if (files.length > MAX_FILES) throw new TriageError('too-large', `Too many files: ${files.length}. The limit is ${MAX_FILES}.`);
  return { files, folders };
}

/** The name of a path: as seen from here where it lies below, else the whole path. */
export function sourceOf(path: string): string {
  const seen = relative(process.cwd(), resolve(path));
  return (seen === '..' || seen.startsWith(`..${sep}`) ? resolve(path) : seen).split(sep).join('/');
}

/** Of a folder that is the working directory itself, no name is left. */
export function underFolder(folder: string, inside: string): string {
  const path = inside.split(sep).join('/');
  return folder === '' ? path : `${folder}/${path}`;
}

async function documentsIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) append(found, await documentsIn(path));
    else if (entry.isFile() && Object.hasOwn(FORMAT_BY_ENDING, extname(entry.name).toLowerCase())) found.push(path);
  }
  return found;
}
