import { z } from 'zod';
import { CATEGORIES, Category } from '../domain/category.ts';
import type { VectorIndex, VectorMatch } from '../ports/vector-index.ts';
import { failureText } from './failure-text.ts';
import { defineTool, type Tool } from './tool.ts';

const Parameters = z.strictObject({
  query: z
    .string()
    .trim()
    .min(1)
    .max(2_000)
    .optional()
    .describe('Words of the failure; by default its message, diagnostics and exceptions'),
  category: Category.optional().describe('Only failures that were decided to be of this category'),
  limit: z.int().min(1).max(10).default(5),
});

/** Has a person already decided a failure like this one? */
export function searchErrorLibrary(vectorIndex: VectorIndex): Tool {
  return defineTool({
    name: 'search_error_library',
    question: 'Has a person already decided a failure like this one, and what was its cause?',
    categories: CATEGORIES,
    always: true,
    costClass: 'low',
    usualLatencyMs: 200,
    provider: `vector-index:${vectorIndex.driver}`,
    parameters: Parameters,
    async run({ query, category, limit }, { subject, signal }) {
      const text = query ?? failureText(subject);
      if (text === '') return [];
      const filter = category === undefined ? {} : { filter: { category } };
      const matches = await vectorIndex.search('error_library', { text, limit, ...filter }, signal);
      return matches.map((match) => findingOf(match, subject.build.repository));
    },
  });
}

/** `sameRepository` lets a judge give precedents of this repository more weight than those of others. */
function findingOf(match: VectorMatch, repository: string) {
  const { title, confirmedBy } = match.metadata;
  return {
    title: `${title ?? match.id}${confirmedBy === undefined ? '' : `, confirmed by ${confirmedBy}`}`,
    text: match.text,
    source: `error-library/${match.id}`,
    score: Math.min(Math.max(match.score, 0), 1),
    data: { ...match.metadata, entryId: match.id, sameRepository: match.metadata.repository === repository },
  };
}
