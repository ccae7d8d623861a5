import { Command, isInterrupted } from '@langchain/langgraph';
import { z } from 'zod';
import type { Evidence, ToolOutcome } from '../../src/domain/evidence.ts';
import type { TriageStateUpdate } from './state.ts';

/** The tool that puts a question to a person; the run waits for the answer. */
export const ASK_REVIEWER = 'ask_reviewer';

/** What a waiting run is resumed with: a person's masked words, or null where no answer in time. */
const ReviewerAnswer = z.object({ text: z.string(), by: z.string(), at: z.string() }).nullable();
export type ReviewerAnswer = z.infer<typeof ReviewerAnswer>;

/** As it travels: LangGraph takes a bare null for no value at all. */
export const Resumption = z.object({ answer: ReviewerAnswer });

/** Whether the run ended for now because it waits for a person. */
export function isWaiting(state: unknown): boolean {
  return isInterrupted(state);
}

/** What a waiting run is given to go on with; null: no answer in time. */
export function resumedWith(answer: ReviewerAnswer): Command<unknown, TriageStateUpdate, never> {
  return new Command<unknown, TriageStateUpdate, never>({ resume: { answer } });
}

const Asked = z.object({ questionId: z.string() });

/** The question that these replies put to a person, or null. */
export function questionIn(replies: readonly ToolOutcome[]): { readonly id: string; readonly text: string } | null {
  for (const reply of replies) {
    const [finding] = reply.findings;
    if (reply.call.tool !== ASK_REVIEWER || reply.status !== 'ok' || finding === undefined) continue;
    const data = Asked.safeParse(finding.data);
    if (data.success) return { id: data.data.questionId, text: finding.text };
  }
  return null;
}

/** A person's word as evidence: what was asked and what was said, by whom and when. */
export function evidenceOf(question: { readonly text: string }, answer: NonNullable<ReviewerAnswer>, known: number): Evidence {
  return {
    id: `E${known + 1}`,
    tool: ASK_REVIEWER,
    title: `${answer.by} answered: ${question.text}`.slice(0, 300),
    text: answer.text,
    source: `reviewer/${answer.by}`,
    data: { answeredBy: answer.by, answeredAt: answer.at },
  };
}
