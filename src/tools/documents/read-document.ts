import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/evidence.ts';
import { findNearestPaths } from '../../lib/nearest-paths.ts';
import type { DocumentFolder, ReadableDocument } from '../../ports/document-folder.ts';
import { defineTool, type Tool } from '../tool.ts';
import { type DocumentNames, indexNames, listDocumentReferences } from './references.ts';

/** The size of one finding, in characters, and the number of findings of one call. */
const MAX_PART = 3_800;
const MAX_PARTS = 8;
const MAX_REFERENCES = 60;

const Parameters = z.strictObject({
  document: z.string().trim().min(1).max(500).describe('Path of the document, as the scan lists it'),
  lineStart: z.int().min(1).default(1).describe('The first line, where it was cut before'),
});

/** Creates the tool that reads a whole document and lists the documents that it refers to. */
export function readDocument(folder: DocumentFolder): Tool {
  return defineTool({
    name: 'read_document',
    question: 'What does this document say, with line numbers, and which other documents does it refer to?',
    serves: { CODE_ERROR: null },
    investigator: 'documents',
    asks: 'knowledge',
    costClass: 'medium',
    usualLatencyMs: 1_000,
    provider: 'documents',
    parameters: Parameters,
    async run({ document: wanted, lineStart }, { signal }): Promise<Finding[]> {
      const { documents, unread } = await folder.readAll(signal);
      const document = documents.find(({ path }) => path === wanted);
      if (document === undefined) throw createMissing(wanted, documents, unread);
      const references = createReferenceFinding(document, indexNames(documents));
      return [...listParts(document, lineStart), ...(references === null ? [] : [references])];
    },
  });
}

function createMissing(
  wanted: string,
  documents: readonly ReadableDocument[],
  unread: readonly { readonly path: string; readonly why: string }[],
): TriageError {
  const broken = unread.find(({ path }) => path === wanted);
  if (broken !== undefined)
    return new TriageError('invalid-input', `document: ${wanted} cannot be read: ${broken.why}`);
  const nearest = findNearestPaths(
    wanted,
    documents.map(({ path }) => path),
  );
  const near = nearest.length === 0 ? '' : `; the nearest names are ${nearest.join(', ')}`;
  return new TriageError('invalid-input', `document: there is no ${wanted.slice(0, 200)}${near}`);
}

function listParts({ path, lines, places }: ReadableDocument, lineStart: number): Finding[] {
  const parts: Finding[] = [];
  let at = lineStart - 1;
  while (at < lines.length && parts.length < MAX_PARTS) {
    let end = at;
    for (let size = 0; end < lines.length && size + (lines[end]?.length ?? 0) < MAX_PART; end += 1)
      size += (lines[end]?.length ?? 0) + 1;
    end = Math.max(end, at + 1);
    const place = places[at] ?? null;
    const isCut = parts.length === MAX_PARTS - 1 && end < lines.length;
    const rest = isCut ? `; lines ${end + 1}–${lines.length} are not shown` : '';
    const from = place === null ? '' : `, from ${place}`;
    parts.push({
      title: `${path}, lines ${at + 1}–${end} of ${lines.length}${from}${rest}`,
      text: lines.slice(at, end).join('\n'),
      source: path,
      lineStart: at + 1,
      lineEnd: end,
    });
    at = end;
  }
  return parts;
}

function createReferenceFinding(document: ReadableDocument, names: DocumentNames): Finding | null {
  const references = listDocumentReferences(document, names);
  if (references.length === 0) return null;
  const rows = references
    .slice(0, MAX_REFERENCES)
    .map(({ line, words, path }) => `line ${line}: “${words}” → ${path ?? 'no document of the folder'}`);
  const more = references.length > rows.length ? [`… ${references.length - rows.length} more`] : [];
  return {
    title: `${document.path} refers to ${references.length} documents`,
    text: [...rows, ...more].join('\n'),
    source: document.path,
    data: { path: document.path, references: references.slice(0, MAX_REFERENCES) },
  };
}
