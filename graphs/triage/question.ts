import { Command, isInterrupted } from '@langchain/langgraph';
import { z } from 'zod';
import type { Evidence, ToolOutcome } from '../../src/domain/evidence.ts';
import { readData } from '../../src/domain/finding-data.ts';
import type { TriageStateUpdate } from './state.ts';

/** The name of the tool that asks a person. The run waits for the answer. */
export const ASK_REVIEWER = 'ask_reviewer';

/**
 * The value with which a waiting run is resumed: a person's masked text, or null if no answer came in time.
 */
const ReviewerAnswer = z.object({ text: z.string(), by: z.string(), at: z.string() }).nullable();
export type ReviewerAnswer = z.infer<typeof ReviewerAnswer>;

/** The answer in an object, because LangGraph treats a bare null as no value. */
export const Resumption = z.object({ answer: ReviewerAnswer });

/** Checks whether the run was interrupted because it waits for a person. */
export function isWaiting(state: unknown): boolean {
  return isInterrupted(state);
}

/** Returns the command that resumes a waiting run. A null answer means that no answer came in time. */
export function createResumeCommand(answer: ReviewerAnswer): Command<unknown, TriageStateUpdate, never> {
  return new Command<unknown, TriageStateUpdate, never>({ resume: { answer } });
}

/** Returns the question that these replies ask a person. Returns null if there is none. */
export function findQuestion(
  replies: readonly ToolOutcome[],
): { readonly id: string; readonly text: string } | null {
  for (const reply of replies) {
    const [finding] = reply.findings;
    if (reply.call.tool !== ASK_REVIEWER || reply.status !== 'ok' || finding === undefined) continue;
    const { questionId } = readData(ASK_REVIEWER, finding);
    if (questionId !== null) return { id: questionId, text: finding.text };
  }
  return null;
}

/** Returns a person's answer as evidence: the question, the answer, who gave it, and when. */
export function toEvidence(
  question: { readonly text: string },
  answer: NonNullable<ReviewerAnswer>,
  known: number,
): Evidence {
  return {
    id: `E${known + 1}`,
    tool: ASK_REVIEWER,
    title: `${answer.by} answered: ${question.text}`.slice(0, 300),
    text: answer.text,
    source: `reviewer/${answer.by}`,
    data: { answeredBy: answer.by, answeredAt: answer.at },
  };
}
