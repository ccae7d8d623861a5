import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, resolve, sep } from 'node:path';
import { createApp } from '../../app.ts';
import type { Category } from '../../domain/category.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/collections.ts';
import { formatCount } from '../../lib/text.ts';
import { toVisibleLine, toVisibleLines } from '../../notifications/visible-text.ts';
import {
  AddedDocument,
  Embedded,
  FORMAT_BY_ENDING,
  type KnowledgeService,
  type NewDocument,
  ShownDocument,
  TeamDocument,
} from '../../ports/knowledge.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import { resolveService, type ServerOptions } from '../command-parts.ts';
import { adviseUrl, askServer, askServerForAll, findOrNull, type Service } from '../server-client.ts';
import { getDataDirectory, getOperatorName, readStoreConfig } from '../settings.ts';
import { EXIT, formatJson, print, printResult, say } from '../terminal.ts';

export interface AddOptions extends ServerOptions {
  readonly category?: Category;
  readonly source?: string;
  readonly dryRun?: boolean;
}

/** The result for one file. */
interface Outcome {
  readonly source: string;
  readonly outcome: AddedDocument['outcome'] | 'removed' | 'failed';
  readonly id?: string;
  readonly passages?: number;
  readonly notes: readonly string[];
}

const MAX_BYTES = 32 * 1024 * 1024;
/** The time limit, in milliseconds, in which the server reads and embeds one document. */
const SERVER_MS = 180_000;
const REINDEX_MS = 3_600_000;
/** The error codes that concern one file only; every other error concerns all of them. */
const OF_ONE_FILE = new Set([
  'too-large',
  'unsupported-type',
  'invalid-input',
  'timeout',
  'not-found',
  'forbidden',
  'conflict',
]);

/**
 * Runs `faultline knowledge add PATH…`. Reports files that cannot be read and continues with the rest; the
 * command then fails at the end.
 */
export async function addKnowledge(paths: readonly string[], options: AddOptions): Promise<void> {
  const { files, folders } = await findKnowledgeFiles(paths, options.source);
  await withService(options, async (service) => {
    const outcomes: Outcome[] = [];
    for (const file of files) outcomes.push(await addOne(service, file, options));
    if (options.dryRun !== true) append(outcomes, await removeGone(service, files, folders));
    const failed = outcomes.filter(({ outcome }) => outcome === 'failed').length;
    if (failed > 0) process.exitCode = EXIT.unreadable;
    if (options.json)
      return print(formatJson({ ok: failed === 0, dryRun: options.dryRun === true, items: outcomes }));
    for (const { source, notes } of outcomes)
      for (const note of notes) say(`${toVisibleLine(source)}: ${toVisibleLine(note)}`);
    const rows = outcomes.map(({ outcome, source, passages }) =>
      [
        outcome.padEnd(9),
        toVisibleLine(source),
        ...(passages === undefined ? [] : [formatCount(passages, 'passage')]),
      ].join('  '),
    );
    return print([...rows, ...(options.dryRun ? ['Nothing was stored.'] : [])].join('\n'));
  });
}

export async function listKnowledge(options: ServerOptions): Promise<void> {
  const items = await withService(options, (service) => service.list());
  const rows = items.map(
    ({ id, source, title, passages, category, importedAt, importedBy }) =>
      `${id}  ${toVisibleLine(source)}  ${toVisibleLine(title)}  ${formatCount(passages, 'passage')}  ${category ?? '-'}  ${importedAt.slice(0, 10)} ` +
      `by ${toVisibleLine(importedBy)}`,
  );
  return printResult(
    options,
    { items },
    rows.join('\n') || 'No documents yet. Add some with: faultline knowledge add PATH…',
  );
}

/** Runs `faultline knowledge show ID`. */
export async function showKnowledge(id: string, options: ServerOptions): Promise<void> {
  const listing = await withService(
    options,
    async (service) => (await service.show(id)) ?? (await service.show(toSourceName(id))),
  );
  if (listing === null) throw createUnknownDocumentError(id);
  const { document, passages } = listing;
  const head =
    `${document.id}  ${toVisibleLine(document.source)}  ${toVisibleLine(document.title)}  ` +
    `(${document.format})`;
  const body = passages.map(
    ({ place, text }) => `── ${toVisibleLine(place)}\n${toVisibleLines(text).join('\n')}`,
  );
  return printResult(options, listing, [head, ...document.notes.map(toVisibleLine), ...body].join('\n\n'));
}

/** Runs `faultline knowledge remove ID|PATH`. */
export async function removeKnowledge(id: string, options: ServerOptions): Promise<void> {
  const removed = await withService(
    options,
    async (service) => (await service.remove(id)) ?? (await service.remove(toSourceName(id))),
  );
  if (removed === null) throw createUnknownDocumentError(id);
  return printResult(options, { removed }, `removed  ${toVisibleLine(removed.source)}`);
}

export async function reindexKnowledge(options: ServerOptions): Promise<void> {
  const counts = await withService(options, (service) => service.embed({ anew: true }));
  const text =
    counts.embedder === null
      ? 'No embedding model is configured (set FAULTLINE_EMBEDDER=openai). ' +
        'Knowledge is found by words only, so there is nothing to embed.'
      : `${formatCount(counts.embedded, 'passage')} embedded with ${counts.embedder}.`;
  return printResult(options, counts, text);
}

async function addOne(
  service: KnowledgeService,
  { path, source }: KnowledgeFile,
  { category, dryRun = false }: AddOptions,
): Promise<Outcome> {
  try {
    const bytes = await readBounded(path);
    const added = await service.add({
      source,
      bytes,
      category: category ?? null,
      importedBy: getOperatorName(),
      dryRun,
    });
    const { id, passages } = added.document;
    return { source, outcome: added.outcome, id, passages, notes: added.notes };
  } catch (error) {
    if (!(error instanceof TriageError) || !OF_ONE_FILE.has(error.code)) throw error;
    return { source, outcome: 'failed', notes: [error.message] };
  }
}

async function readBounded(path: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES)
      throw new TriageError('too-large', `${path} has ${size} bytes; the limit is ${MAX_BYTES}.`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof TriageError) throw error;
    throw new TriageError('not-found', `${path} cannot be read: ${getErrorMessage(error)}`, { cause: error });
  }
}

/** Removes documents whose file was in a folder when the folder was last added, and no longer is. */
async function removeGone(
  service: KnowledgeService,
  files: readonly KnowledgeFile[],
  folders: readonly string[],
): Promise<Outcome[]> {
  const there = new Set(files.map(({ source }) => source));
  // The working directory gives no name of its own, so everything would look gone.
  const named = folders.filter((folder) => folder !== '').map((folder) => joinFolder(folder, ''));
  const gone = (await service.list()).filter(
    ({ source }) => !there.has(source) && named.some((folder) => source.startsWith(folder)),
  );
  for (const { id } of gone) await service.remove(id);
  return gone.map(({ id, source }) => ({ source, outcome: 'removed' as const, id, notes: [] }));
}

/** Runs the work with the service of the data directory, or with a running service if one is named. */
async function withService<Result>(
  options: ServerOptions,
  work: (service: KnowledgeService) => Promise<Result>,
): Promise<Result> {
  if (options.url !== undefined || process.env.FAULTLINE_URL !== undefined)
    return work(createServerClient(await resolveService(options)));
  const app = await createApp(readStoreConfig(getDataDirectory(options.data)), silentLogger).catch(adviseUrl);
  try {
    return await work(app.knowledge);
  } finally {
    await app.close({ drainMs: 0 });
  }
}

function createServerClient(server: Service): KnowledgeService {
  const at = (id: string) => `/api/knowledge/${encodeURIComponent(id)}`;
  return {
    add: ({ source, bytes, category, dryRun = false }: NewDocument) => {
      const content = Buffer.from(bytes).toString('base64');
      return askServer(
        server,
        'POST',
        '/api/knowledge',
        AddedDocument,
        { source, content, category, dryRun },
        SERVER_MS,
      );
    },
    list: async () => await askServerForAll(server, '/api/knowledge', TeamDocument),
    show: (id) => findOrNull(askServer(server, 'GET', at(id), ShownDocument)),
    remove: (id) => findOrNull(askServer(server, 'DELETE', at(id), TeamDocument, undefined, SERVER_MS)),
    embed: () => askServer(server, 'POST', '/api/knowledge/reindex', Embedded, {}, REINDEX_MS),
  };
}

function createUnknownDocumentError(id: string): TriageError {
  return new TriageError('not-found', `There is no document ${id}. List them with: faultline knowledge list`);
}

/** A file to add, and the name under which it is stored. */
interface KnowledgeFile {
  readonly path: string;
  readonly source: string;
}

const MAX_FILES = 10_000;

/**
 * Finds the documents at these paths. Folders are read recursively, except hidden and installed content;
 * links are not followed. `name` replaces the path in the names. `folders` are the name prefixes of the
 * folders: a stored document below one that is no longer there has been removed. Throws `not-found`, and
 * `invalid-input` for a folder without any document.
 */
async function findKnowledgeFiles(paths: readonly string[], name: string | undefined) {
  if (name !== undefined && paths.length !== 1)
    throw new TriageError('invalid-config', '--source takes exactly one path.');
  const files: KnowledgeFile[] = [];
  const folders: string[] = [];
  for (const path of paths) {
    const source = name ?? toSourceName(path);
    const kind = await stat(path).catch((cause: unknown) => {
      throw new TriageError('not-found', `${path} cannot be read: ${getErrorMessage(cause)}`, { cause });
    });
    if (!kind.isDirectory()) {
      files.push({ path, source });
      continue;
    }
    const inside = await listDocuments(path);
    if (inside.length === 0) throw new TriageError('invalid-input', `${path} contains no readable document.`);
    folders.push(source);
    for (const file of inside) files.push({ path: file, source: joinFolder(source, relative(path, file)) });
  }
  if (files.length > MAX_FILES)
    throw new TriageError('too-large', `Too many files: ${files.length}. The limit is ${MAX_FILES}.`);
  return { files, folders };
}

/** Returns the name of a path: relative if it is below the working directory, otherwise absolute. */
function toSourceName(path: string): string {
  const seen = relative(process.cwd(), resolve(path));
  return (seen === '..' || seen.startsWith(`..${sep}`) ? resolve(path) : seen).split(sep).join('/');
}

/** Joins a folder name and a path inside it. The working directory itself has no name. */
function joinFolder(folder: string, inside: string): string {
  const path = inside.split(sep).join('/');
  return folder === '' ? path : `${folder}/${path}`;
}

async function listDocuments(folder: string): Promise<string[]> {
  const found: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) append(found, await listDocuments(path));
    else if (entry.isFile() && Object.hasOwn(FORMAT_BY_ENDING, extname(entry.name).toLowerCase()))
      found.push(path);
  }
  return found;
}
