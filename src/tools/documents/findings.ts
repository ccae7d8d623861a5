import type { Finding } from '../../domain/evidence.ts';
import type { ReadableDocument } from '../../ports/document-folder.ts';
import type { DocumentPassage } from './passages.ts';
import { type DocumentNames, listDocumentReferences } from './references.ts';

/** Creates the finding of a passage, with the documents that it refers to. */
export function createPassageFinding(
  document: ReadableDocument,
  { lineStart, lineEnd, score }: Omit<DocumentPassage, 'path'>,
  names: DocumentNames,
): Finding {
  const { path, lines, places } = document;
  const part = lines.slice(lineStart - 1, lineEnd);
  const references = listDocumentReferences({ ...document, lines: part }, names).map((reference) => ({
    ...reference,
    line: reference.line + lineStart - 1,
  }));
  const place = places[lineStart - 1] ?? null;
  const refers = references.flatMap(({ path: target }) => (target === null ? [] : [target]));
  const more = refers.length === 0 ? '' : `; refers to ${[...new Set(refers)].join(', ')}`;
  return {
    title: `${path}${place === null ? '' : `, ${place}`}${more}`,
    text: part.join('\n'),
    source: path,
    lineStart,
    lineEnd: Math.max(lineStart, lineEnd),
    score: Math.round(Math.min(1, score) * 1_000) / 1_000,
    data: { path, place, references },
  };
}
