import { z } from 'zod';
import { CATEGORIES } from '../domain/category.ts';
import type { ReviewerClient } from '../ports/toolbox.ts';
import { defineTool, type Tool } from './tool.ts';

const Parameters = z.strictObject({
  question: z
    .string()
    .trim()
    .min(10)
    .max(500)
    .describe('One question that a person who knows this project can answer in a sentence, and no log, code or document can'),
});

/** What only a person knows. Without a review queue (terminal, replay) nobody can be asked. */
export function askReviewer(reviewer: ReviewerClient | undefined): Tool {
  return defineTool({
    name: 'ask_reviewer',
    question:
      'What does a person who knows this project say about the one fact that decides, that nothing else can tell, and that is worth waiting hours for?',
    categories: CATEGORIES,
    costClass: 'high',
    usualLatencyMs: 1000,
    provider: 'review-queue',
    parameters: Parameters,
    unavailable: async () => (reviewer === undefined ? 'No reviewer is available: this run has no review queue.' : null),
    async run({ question }, { subject, category }) {
      if (reviewer === undefined) return [];
      const asked = await reviewer.ask({ subject, category, text: question });
      return [{ title: 'Asked a reviewer', text: asked.text, source: 'review-queue', data: { questionId: asked.id } }];
    },
  });
}
