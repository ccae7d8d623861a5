import { z } from 'zod';
import { Thread, Turn } from '../../domain/conversation.ts';
import { pageQuery } from '../../ports/database.ts';
import { MAX_QUESTION } from './answer-question.ts';

/** A question about an analysis or a build. */
export const AskBody = z.object({
  question: z.string().min(1).max(MAX_QUESTION).describe('The question, in your own words'),
  thread: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('ID of the thread to continue; omit to start a new one'),
});

/** A turn as it is answered; the full trace of its steps stays with the thread. */
export const AnswerView = Turn.omit({ steps: true });
export type AnswerView = z.infer<typeof AnswerView>;

export const ThreadView = z.object({ thread: Thread, turns: z.array(Turn) });

export const ThreadList = z.object({
  items: z.array(Thread),
  limit: z.int(),
  offset: z.int(),
  next: z.int().nullable(),
});

export const ThreadsQuery = z.object({
  analysis: z.string().min(1).max(300).optional().describe('Only threads about this analysis'),
  build: z.string().min(1).max(300).optional().describe('Only threads about this build'),
  ...pageQuery,
});

export function answerView({ steps: _steps, ...answer }: Turn): AnswerView {
  return answer;
}
