import { z } from 'zod';
import { Category } from './category.ts';

export const QuestionState = z.enum(['waiting', 'answered', 'expired']);
export type QuestionState = z.infer<typeof QuestionState>;

/** A question that a running triage puts to a person: an item of the review queue without an analysis yet. Texts are masked. */
export const ReviewerQuestion = z.object({
  id: z.string(),
  kind: z.literal('question'),
  triageId: z.string(),
  buildId: z.string(),
  repository: z.string(),
  /** One line: which failure it is about. */
  title: z.string(),
  /** The best guess so far. */
  category: Category,
  question: z.string(),
  state: QuestionState,
  answer: z.string().nullable(),
  answeredBy: z.string().nullable(),
  answeredAt: z.iso.datetime().nullable(),
  openedAt: z.iso.datetime(),
  /** The run goes on without an answer from then on. */
  expiresAt: z.iso.datetime(),
});
export type ReviewerQuestion = z.infer<typeof ReviewerQuestion>;
