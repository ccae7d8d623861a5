import { z } from 'zod';
import { CATEGORIES, Category } from '../domain/category.ts';
import type { VectorIndex, VectorMatch } from '../ports/vector-index.ts';
import { failureHeadline, failureText } from './failure-text.ts';
import { defineTool, type Tool } from './tool.ts';

const Parameters = z.strictObject({
  query: z
    .string()
    .trim()
    .min(1)
    .max(2_000)
    .optional()
    .describe('Words of the failure; by default its message, diagnostics and exceptions'),
  category: Category.optional().describe('Only documents of this category'),
  limit: z.int().min(1).max(10).default(5),
});

/** Which curated document describes this kind of failure? */
export function searchKnowledge(vectorIndex: VectorIndex): Tool {
  return defineTool({
    name: 'search_knowledge',
    question: 'Which curated document describes this kind of failure, its causes and its fixes?',
    categories: CATEGORIES,
    always: true,
    costClass: 'low',
    usualLatencyMs: 200,
    provider: `vector-index:${vectorIndex.driver}`,
    parameters: Parameters,
    alternative: { tool: 'search_web', args: (_call, subject) => ({ query: failureHeadline(subject) }) },
    async run({ query, category, limit }, { subject, signal }) {
      const text = query ?? failureText(subject);
      if (text === '') return [];
      const filter = category === undefined ? {} : { filter: { category } };
      const matches = await vectorIndex.search('knowledge', { text, limit, ...filter }, signal);
      return matches.map(findingOf);
    },
  });
}

function findingOf(match: VectorMatch) {
  const { title, category, kind, fix } = match.metadata;
  return {
    title: `${match.id}: ${title ?? match.id}`,
    text: match.text,
    source: `knowledge/${match.id}`,
    score: Math.min(Math.max(match.score, 0), 1),
    data: { documentId: match.id, category, kind, title, fix },
  };
}
