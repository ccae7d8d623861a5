import { z } from 'zod';
import { CATEGORIES } from '../domain/category.ts';
import type { HistoryStore } from '../ports/stores.ts';
import { failureHeadline } from './failure-text.ts';
import { pastFailure } from './past-failure.ts';
import { defineTool, type Tool } from './tool.ts';

const Parameters = z.strictObject({
  text: z.string().trim().min(3).max(1_000).optional().describe("A message; by default the failure's own"),
  minScore: z.number().min(0.1).max(1).default(0.3).describe('Trigram similarity from which a failure counts'),
  limit: z.int().min(1).max(20).default(5),
});

/** Which other builds failed with a message like this? */
export function findSimilarFailures(history: HistoryStore): Tool {
  return defineTool({
    name: 'find_similar_failures',
    question: 'Which other builds, of any repository, failed with a message like this one?',
    categories: CATEGORIES,
    costClass: 'low',
    usualLatencyMs: 150,
    provider: 'history',
    parameters: Parameters,
    async run({ text, minScore, limit }, { subject }) {
      const message = text ?? failureHeadline(subject);
      if (message === '') return [];
      const rows = await history.similarFailures({ text: message, excludeBuildId: subject.build.id, minScore, limit });
      return rows.map((row) => ({ ...pastFailure(row), score: Math.min(Math.max(row.score, 0), 1) }));
    },
  });
}
