import { z } from 'zod';
import { AnswerForm, toAnswerForm } from '../../domain/answer-form.ts';
import { RepositoryThread } from '../../domain/ask-session.ts';
import { Thread, Turn } from '../../domain/conversation.ts';
import { createListSchema, pageQuery } from '../../ports/database.ts';
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
export type AskBody = z.infer<typeof AskBody>;

/** A turn as it is answered, with its parts. The full trace of its steps stays with the thread. */
export const AnswerView = Turn.omit({ steps: true }).extend({ form: AnswerForm.exactOptional() });
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

export const RepositoryListQuery = z.object({
  words: z.string().max(300).default('').describe('Only repositories whose names hold these words'),
  ...pageQuery,
});

export const RepositoryList = createListSchema(z.object({ repository: z.string() }));

export const RepositoryThreadsQuery = z.object({
  repository: z.string().min(1).max(300).optional().describe('Only threads about this repository'),
  ...pageQuery,
});

export const RepositoryThreadView = z.object({ thread: RepositoryThread, turns: z.array(Turn) });

export const RepositoryThreadList = ThreadList.extend({ items: z.array(RepositoryThread) });

export function answerView({ steps: _steps, ...answer }: Turn): AnswerView {
  return { ...answer, form: toAnswerForm(answer) };
}
