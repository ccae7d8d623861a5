import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, TriageError } from '../domain/errors.ts';
import type { KnowledgeDocument } from '../domain/library.ts';
import type { VectorIndex, VectorItem } from '../ports/vector-index.ts';
import { bringInStep, hashedItem } from './knowledge/bring-in-step.ts';
import { parseKnowledge } from './parse-knowledge.ts';

/** Reads the curated documents `ERR*.md` of a folder, in the order of their names. Throws TriageError `invalid-config` naming file and line. */
export async function readKnowledge(folder: string): Promise<KnowledgeDocument[]> {
  const names = (await listFolder(folder)).filter((name) => /^ERR\d+\.md$/.test(name)).sort();
  const documents = await Promise.all(names.map(async (name) => parseKnowledge(name, await readFile(join(folder, name), 'utf8'))));
  for (const [index, document] of documents.entries()) {
    if (`${document.id}.md` === names[index]) continue;
    throw new TriageError(
      'invalid-config',
      `${names[index]}:2: the knowledge document has the id ${document.id}; it must be its file's name.`,
    );
  }
  return documents;
}

/** How many documents were taken in, were known already, and are gone. */
export interface KnowledgeLoad {
  readonly changed: number;
  readonly unchanged: number;
  readonly removed: number;
}

/** In the order in which they are worth reading: a finding is cut at its end. */
const SECTIONS = ['Causes', 'Fixes', 'How to confirm', 'Symptoms', 'Not to be confused with'] as const;

/**
 * Brings the `knowledge` namespace into step with the documents: what changed is embedded anew, what is gone is removed.
 * A document is one item to read (`ERR001`) and one item per signal (`ERR001/3`): a phrase is found by its like, and a
 * whole document would drown it. Counts are of documents.
 */
export async function loadKnowledge(
  vectorIndex: VectorIndex,
  documents: readonly KnowledgeDocument[],
  signal?: AbortSignal,
): Promise<KnowledgeLoad> {
  const items = knowledgeItems(documents);
  const { fresh, gone } = await bringInStep(vectorIndex, 'knowledge', items, signal);
  const wanted = new Set(items.map(({ id }) => id));
  const changed = new Set([...fresh, ...gone].map(documentOf).filter((id) => wanted.has(id)));
  const removed = new Set(gone.map(documentOf).filter((id) => !wanted.has(id)));
  return { changed: changed.size, unchanged: documents.length - changed.size, removed: removed.size };
}

/** The documents as items of an index. */
export function knowledgeItems(documents: readonly KnowledgeDocument[]): VectorItem[] {
  return documents.flatMap(itemsOf);
}

function itemsOf(document: KnowledgeDocument): VectorItem[] {
  const { id, title, category, kind, sections, signals } = document;
  const common = { documentId: id, category, kind, title, fix: firstBullet(sections.Fixes ?? '') };
  const texts = SECTIONS.flatMap((name) => (sections[name] === undefined ? [] : [`${name}\n${sections[name]}`]));
  return [
    hashedItem(id, [title, ...texts].join('\n\n'), { ...common, part: 'document' }),
    ...signals.map((phrase, index) => hashedItem(`${id}/${index + 1}`, phrase, { ...common, part: 'signal' })),
  ];
}

function documentOf(itemId: string): string {
  return itemId.split('/')[0] ?? itemId;
}

function firstBullet(section: string): string {
  const line = section.split('\n').find((candidate) => /^[-*] /.test(candidate)) ?? section.split('\n')[0] ?? '';
  return line.replace(/^[-*] /, '').trim();
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    throw new TriageError('invalid-config', `The knowledge folder ${folder} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
