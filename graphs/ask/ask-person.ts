import { z } from 'zod';
import { CATEGORIES } from '../../src/domain/category.ts';
import type { ToolCall, ToolOutcome } from '../../src/domain/evidence.ts';
import type { Person, ToolDescription } from '../../src/ports/toolbox.ts';
import { ASK_REVIEWER } from '../triage/question.ts';

const MAX_ANSWER = 2_000;

const Parameters = z.strictObject({ question: z.string().trim().min(10).max(500) });

/** The tool that asks the person who asked. It is offered only where one sits at a keyboard. */
export const ASK_PERSON: ToolDescription = {
  name: ASK_REVIEWER,
  question:
    'What does the person who asks know that no file says: which of several things is meant, or what ' +
    'was decided?',
  categories: CATEGORIES,
  asks: 'people',
  always: false,
  costClass: 'high',
  usualLatencyMs: 60_000,
  fallback: false,
  parameters: {
    type: 'object',
    properties: {
      question: {
        type: 'string',
        minLength: 10,
        maxLength: 500,
        description: 'One question that the person can answer in a sentence',
      },
    },
    required: ['question'],
    additionalProperties: false,
  },
};

/** Asks the person a call's question. The answer is evidence. */
export async function askPerson(call: ToolCall, person: Person, signal: AbortSignal): Promise<ToolOutcome> {
  const startedAt = performance.now();
  const finish = (status: ToolOutcome['status'], summary: string, answer?: string): ToolOutcome => ({
    call,
    status,
    summary,
    attempts: 1,
    milliseconds: Math.round(performance.now() - startedAt),
    findings:
      answer === undefined
        ? []
        : [
            {
              title: `The person who asks answered: ${call.args.question}`,
              text: answer.slice(0, MAX_ANSWER),
              source: 'reviewer/terminal',
            },
          ],
  });
  const args = Parameters.safeParse(call.args);
  if (!args.success) return finish('invalid-arguments', 'question: 10 to 500 characters are needed');
  const answer = (await person.ask(args.data.question, signal))?.trim() ?? '';
  return answer === '' ? finish('empty', 'no answer') : finish('ok', '1 answer', answer);
}
