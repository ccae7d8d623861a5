import { z } from 'zod';
import type { Finding } from '../../domain/evidence.ts';
import type { DocumentFolder } from '../../ports/document-folder.ts';
import { defineTool, type Tool } from '../tool.ts';
import { createPassageFinding } from './findings.ts';
import { extractQuestionWords, rankPassages } from './passages.ts';
import { indexNames } from './references.ts';

const Parameters = z.strictObject({
  words: z.string().trim().min(1).max(500).describe('Words that the passage should hold, or the question'),
  document: z.string().trim().min(1).max(500).optional().describe('Only in this document, by its path'),
  limit: z.int().min(1).max(10).default(6),
});

/** Creates the tool that finds the passages of documents that hold most of a question's words. */
export function searchDocuments(folder: DocumentFolder): Tool {
  return defineTool({
    name: 'search_documents',
    question: 'Which passages of the documents, or of one of them, say most of these words?',
    serves: { CODE_ERROR: null },
    investigator: 'documents',
    asks: 'knowledge',
    costClass: 'low',
    usualLatencyMs: 800,
    provider: 'documents',
    parameters: Parameters,
    async run({ words, document: wanted, limit }, { signal }): Promise<Finding[]> {
      const { documents } = await folder.readAll(signal);
      const names = indexNames(documents);
      const searched = documents.filter(({ path }) => wanted === undefined || path === wanted);
      return rankPassages(searched, extractQuestionWords(words))
        .slice(0, limit)
        .flatMap((passage) => {
          const document = documents.find(({ path }) => path === passage.path);
          return document === undefined ? [] : [createPassageFinding(document, passage, names)];
        });
    },
  });
}
