import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { KnowledgeDocument } from '../domain/library.ts';
import { splitList } from '../lib/text.ts';
import type { VectorIndex, VectorItem, VectorNamespace } from '../ports/vector-index.ts';

/**
 * Reads the curated documents `ERR*.md` of a folder, in the order of their names. Throws TriageError
 * `invalid-config` naming file and line.
 */
export async function readKnowledge(folder: string): Promise<KnowledgeDocument[]> {
  const names = (await listFolder(folder)).filter((name) => /^ERR\d+\.md$/.test(name)).sort();
  const documents = await Promise.all(
    names.map(async (name) => parseKnowledge(name, await readFile(join(folder, name), 'utf8'))),
  );
  for (const [index, document] of documents.entries()) {
    if (`${document.id}.md` === names[index]) continue;
    throw new TriageError(
      'invalid-config',
      `${names[index]}:2: the knowledge document has the id ${document.id}; it must be its file's name.`,
    );
  }
  return documents;
}

/** The numbers of documents that were added or changed, that were unchanged, and that were removed. */
interface KnowledgeLoad {
  readonly changed: number;
  readonly unchanged: number;
  readonly removed: number;
}

/** Sections in order of importance, because a finding is cut at its end. */
const SECTIONS = ['Causes', 'Fixes', 'How to confirm', 'Symptoms', 'Not to be confused with'] as const;

/**
 * Synchronizes the `knowledge` namespace with the documents: changed documents are embedded again, and
 * deleted ones are removed. A document becomes one item to read (`ERR001`) and one item per signal
 * (`ERR001/3`), because a phrase matches a similar phrase better than a whole document. The counts refer to
 * documents.
 */
export async function loadKnowledge(
  vectorIndex: VectorIndex,
  documents: readonly KnowledgeDocument[],
  signal?: AbortSignal,
): Promise<KnowledgeLoad> {
  const items = toKnowledgeItems(documents);
  const { fresh, gone } = await synchronizeItems(vectorIndex, 'knowledge', items, signal);
  const wanted = new Set(items.map(({ id }) => id));
  const changed = new Set([...fresh, ...gone].map(getDocumentId).filter((id) => wanted.has(id)));
  const removed = new Set(gone.map(getDocumentId).filter((id) => !wanted.has(id)));
  return { changed: changed.size, unchanged: documents.length - changed.size, removed: removed.size };
}

/** Converts the documents to items of an index. */
export function toKnowledgeItems(documents: readonly KnowledgeDocument[]): VectorItem[] {
  return documents.flatMap(toItems);
}

function toItems(document: KnowledgeDocument): VectorItem[] {
  const { id, title, category, kind, sections, signals } = document;
  const common = { documentId: id, category, kind, title, fix: getFirstBullet(sections.Fixes ?? '') };
  const texts = SECTIONS.flatMap((name) =>
    sections[name] === undefined ? [] : [`${name}\n${sections[name]}`],
  );
  return [
    createHashedItem(id, [title, ...texts].join('\n\n'), { ...common, part: 'document' }),
    ...signals.map((phrase, index) =>
      createHashedItem(`${id}/${index + 1}`, phrase, { ...common, part: 'signal' }),
    ),
  ];
}

function getDocumentId(itemId: string): string {
  return itemId.split('/')[0] ?? itemId;
}

function getFirstBullet(section: string): string {
  const line =
    section.split('\n').find((candidate) => /^[-*] /.test(candidate)) ?? section.split('\n')[0] ?? '';
  return line.replace(/^[-*] /, '').trim();
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    throw new TriageError(
      'invalid-config',
      `The knowledge folder ${folder} cannot be read: ${getErrorMessage(error)}`,
      { cause: error },
    );
  }
}

const Signal = z.string().trim().min(1);
const FIELDS = ['id', 'title', 'category', 'kind', 'tools', 'signals'] as const;
const REQUIRED_SECTIONS = ['Symptoms', 'Causes', 'Fixes'] as const;
type Field = (typeof FIELDS)[number];

/**
 * Reads one knowledge document: front matter between `---` lines (id, title, category, kind, `tools: [a, b]`,
 * and `signals:` as a list of JSON strings), then `## Heading` sections. Anything else is refused:
 * TriageError `invalid-config` naming file and line.
 */
export function parseKnowledge(file: string, text: string): KnowledgeDocument {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const createError: CreateError = (line, problem) =>
    new TriageError('invalid-config', `${file}:${line}: the knowledge document ${problem}.`);
  if (lines[0] !== '---') throw createError(1, 'must begin with a line of three dashes');
  const end = lines.indexOf('---', 1);
  if (end < 0) throw createError(lines.length, 'has no line of three dashes that ends the front matter');
  const frontMatter = readFrontMatter(lines.slice(1, end), createError);
  const sections = readSections(lines, end + 1, createError);
  for (const field of FIELDS)
    if (!frontMatter.values.has(field)) throw createError(end + 1, `lacks the field ${field}`);
  for (const name of REQUIRED_SECTIONS)
    if (sections[name] === undefined) throw createError(lines.length, `lacks the section ## ${name}`);
  return parseDocument(frontMatter, sections, createError);
}

/** A function that creates the error for a line of the current file. */
type CreateError = (line: number, problem: string) => TriageError;

interface FrontMatter {
  readonly values: ReadonlyMap<string, string | readonly string[]>;
  readonly at: ReadonlyMap<string, number>;
}

function readFrontMatter(lines: readonly string[], createError: CreateError): FrontMatter {
  const values = new Map<string, string | string[]>();
  const at = new Map<string, number>();
  let list: string[] | null = null;
  for (const [index, line] of lines.entries()) {
    const number = index + 2;
    const item = line.match(/^ {2}- (".*")$/)?.[1];
    if (item !== undefined) {
      if (list === null) throw createError(number, 'has a list item outside a list');
      list.push(readString(item, number, createError));
      continue;
    }
    const field = line.match(/^([a-z]+):(?: (.*))?$/);
    const name = field?.[1] ?? '';
    const value = field?.[2]?.trim() ?? '';
    if (field === null || !isField(name))
      throw createError(number, `has a line that is not a known field: ${JSON.stringify(line.slice(0, 80))}`);
    if (values.has(name)) throw createError(number, `has the field ${name} twice`);
    at.set(name, number);
    list = value === '' ? [] : null;
    values.set(name, list ?? (name === 'tools' ? readInlineList(value, number, createError) : value));
  }
  return { values, at };
}

function isField(name: string): name is Field {
  return FIELDS.some((field) => field === name);
}

function readString(json: string, line: number, createError: CreateError): string {
  try {
    return Signal.parse(JSON.parse(json));
  } catch {
    throw createError(line, `has a signal that is not a JSON string: ${json.slice(0, 80)}`);
  }
}

function readInlineList(value: string, line: number, createError: CreateError): string[] {
  const inside = value.match(/^\[(.*)\]$/)?.[1];
  if (inside === undefined) throw createError(line, 'must list its tools as [a, b]');
  return splitList(inside);
}

function readSections(
  lines: readonly string[],
  start: number,
  createError: CreateError,
): Record<string, string> {
  const sections = new Map<string, string[]>();
  let current: string[] | null = null;
  for (const [index, line] of lines.slice(start).entries()) {
    const heading = line.match(/^## (.+)$/)?.[1]?.trim();
    if (heading === undefined) {
      if (current === null && line.trim() !== '')
        throw createError(start + index + 1, 'has text before its first ## heading');
      current?.push(line);
      continue;
    }
    if (sections.has(heading)) throw createError(start + index + 1, `has the section ${heading} twice`);
    current = [];
    sections.set(heading, current);
  }
  return Object.fromEntries([...sections].map(([heading, body]) => [heading, body.join('\n').trim()]));
}

function parseDocument(
  { values, at }: FrontMatter,
  sections: Record<string, string>,
  createError: CreateError,
): KnowledgeDocument {
  const result = KnowledgeDocument.safeParse({ ...Object.fromEntries(values), sections });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw createError(
    at.get(String(issue?.path[0])) ?? 1,
    `has an invalid ${issue?.path.join('.')}: ${issue?.message}`,
  );
}

const BATCH = 200;

/** The ids of the embedded items and of the removed ones. */
interface SynchronizedItems {
  readonly fresh: readonly string[];
  readonly gone: readonly string[];
}

/** Creates an item with a hash of its content in `metadata.hash`. */
export function createHashedItem(
  id: string,
  text: string,
  metadata: Readonly<Record<string, string | number>>,
): VectorItem {
  const hash = createHash('sha256')
    .update(JSON.stringify([text, metadata]))
    .digest('hex')
    .slice(0, 16);
  return { id, text, metadata: { ...metadata, hash } };
}

/**
 * Synchronizes a namespace with these items: items with a different hash are embedded, and all others in the
 * namespace that are not listed are removed. If `given` is a function, it is called after the index was
 * listed, so that an item added in the meantime is not mistaken for an obsolete one.
 */
export async function synchronizeItems(
  index: VectorIndex,
  namespace: VectorNamespace,
  given: readonly VectorItem[] | (() => Promise<readonly VectorItem[]>),
  signal?: AbortSignal,
): Promise<SynchronizedItems> {
  const indexed = await index.list(namespace);
  const items = typeof given === 'function' ? await given() : given;
  const hashes = new Map(indexed.map(({ id, metadata }) => [id, metadata.hash]));
  const fresh = items.filter((item) => hashes.get(item.id) !== item.metadata.hash);
  for (let from = 0; from < fresh.length; from += BATCH)
    await index.upsert(namespace, fresh.slice(from, from + BATCH), signal);
  const wanted = new Set(items.map(({ id }) => id));
  const gone = indexed.filter(({ id }) => !wanted.has(id)).map(({ id }) => id);
  if (gone.length > 0) await index.remove(namespace, gone);
  return { fresh: fresh.map(({ id }) => id), gone };
}
