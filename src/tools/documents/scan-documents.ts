import { z } from 'zod';
import type { Finding } from '../../domain/evidence.ts';
import { formatCount } from '../../lib/text.ts';
import type { DocumentFolder, ReadableDocument } from '../../ports/document-folder.ts';
import { defineTool, type Tool } from '../tool.ts';
import { extractQuestionWords, rankPassages } from './passages.ts';

const MAX_LISTED = 150;
const MAX_PREVIEWED = 6;
/** The size of one finding. */
const MAX_PREVIEW = 3_900;
/** The share of a question's words from which a document is relevant, and from which it may be. */
const RELEVANT = 0.6;
const MAYBE = 0.25;

const Parameters = z.strictObject({
  question: z.string().trim().min(1).max(500).describe('The question, in its own words'),
});

/** Creates the tool that previews all documents and grades them for a question. */
export function scanDocuments(folder: DocumentFolder, previewCharacters: number): Tool {
  return defineTool({
    name: 'scan_documents',
    question: 'Which documents are there, how does each begin, and which are relevant to this question?',
    serves: { CODE_ERROR: null },
    investigator: 'documents',
    asks: 'knowledge',
    costClass: 'medium',
    usualLatencyMs: 1_500,
    provider: 'documents',
    parameters: Parameters,
    async run({ question }, { signal }): Promise<Finding[]> {
      const { documents, unread } = await folder.readAll(signal);
      const words = extractQuestionWords(question);
      const scores = new Map<string, number>();
      for (const { path, score } of rankPassages(documents, words))
        scores.set(path, Math.max(score, scores.get(path) ?? 0));
      const graded = documents
        .map((document) => ({ document, score: scores.get(document.path) ?? 0 }))
        .sort((left, right) => right.score - left.score);
      const rows = graded.slice(0, MAX_LISTED).map(({ document, score }) => formatRow(document, score));
      const more = graded.length > rows.length ? [`… ${graded.length - rows.length} more`] : [];
      const missing = unread.slice(0, 20).map(({ path, why }) => `UNREAD ${path}: ${why}`);
      const list: Finding = {
        title: `${folder.name}: ${formatCount(documents.length, 'document')}, ${unread.length} not readable`,
        text: [...rows, ...more, ...missing].join('\n'),
        source: folder.name,
        data: { documents: documents.length, unread: unread.length },
      };
      const previews = graded
        .slice(0, MAX_PREVIEWED)
        .map(({ document }) => createPreview(document, previewCharacters));
      return [list, ...previews];
    },
  });
}

function formatRow({ path, title, lines }: ReadableDocument, score: number): string {
  const grade = score >= RELEVANT ? 'RELEVANT' : score >= MAYBE ? 'MAYBE' : 'SKIP';
  const named = title === null ? '' : ` “${title.slice(0, 120)}”`;
  return `${grade} ${path}${named}, ${formatCount(lines.length, 'line')}`;
}

function createPreview({ path, lines }: ReadableDocument, characters: number): Finding {
  let end = 0;
  for (let size = 0; end < lines.length && size < Math.min(characters, MAX_PREVIEW); end += 1)
    size += (lines[end]?.length ?? 0) + 1;
  const beginning = lines.slice(0, Math.max(1, end));
  return {
    title: `${path}, its beginning`,
    text: beginning.join('\n'),
    source: path,
    lineStart: 1,
    lineEnd: beginning.length,
  };
}
