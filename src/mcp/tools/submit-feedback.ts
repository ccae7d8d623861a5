import { z } from 'zod';
import { Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import type { DecisionInput } from '../../domain/review.ts';
import { present } from '../../lib/collections.ts';
import { line } from '../shapes.ts';
import { defineTool, findAnalyses, type InstallationDeps, type McpDeps, type McpTool } from '../tool.ts';

const Input = z.strictObject({
  id: z.string().min(1).max(300).describe('ID of the failure, from list_failures or get_failure, or of its review'),
  verdict: z
    .enum(['accept', 'correct', 'reject'])
    .describe('accept: the answer is right. correct: it is something else. reject: it is not usable'),
  said: z.string().min(3).max(1000).describe('What the person said, word for word. It is stored as the reason'),
  category: z.enum(Category.options).optional().describe('The right category; correct needs it'),
  rootCause: z.string().min(1).max(4000).optional().describe('The right cause, with correct'),
  fix: z.string().min(1).max(4000).optional().describe('The right fix, with correct'),
});

/** `submit_feedback`: a person's word about an answer, brought by an agent. Only offered where somebody allowed it. */
export function submitFeedback(deps: InstallationDeps, { decide, openReview, reviewer }: NonNullable<McpDeps['feedback']>): McpTool {
  return defineTool({
    name: 'submit_feedback',
    title: "Store a person's decision",
    description:
      'Stores what a PERSON told you about an answer: that it is right, what it is instead, or that it is not usable. Never call it on your own judgement: decisions are reused to answer later failures of the same kind. Quote the person in said. The decision is stored as brought by an agent.',
    input: Input,
    output: z.object({ stored: Input.shape.verdict, teaching: z.string() }),
    manners: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    run: async ({ id, verdict, said, category, rootCause, fix }) => {
      const by = `${reviewer} (by an agent)`;
      const review = (await deps.stores.reviews.find(id)) ?? (await openReview(await oneAnalysis(id, deps), by));
      const reason = `A person said: ${said}`;
      const input: DecisionInput = { type: verdict, reason, ...present({ category, rootCause, fixRecommendation: fix }) };
      const { teaching } = await decide({ review, reviewer: by, input });
      return { text: `Stored: ${verdict}. ${line(teaching, 400)}`, data: { stored: verdict, teaching: line(teaching, 400) } };
    },
  });
}

async function oneAnalysis(id: string, deps: InstallationDeps): Promise<string> {
  const { analyses } = await findAnalyses(id, deps);
  const [only] = analyses;
  if (only !== undefined && analyses.length === 1) return only.id;
  throw new TriageError('invalid-input', 'This build has several causes: use the ID of one of them.');
}
