import type { Runtime } from '@langchain/langgraph';
import { z } from 'zod';
import type { Category } from '../../src/domain/category.ts';
import type { Understanding } from '../../src/domain/conversation.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { Converse, Inquiry, PlaceTopic, TextPiece, Topic } from '../../src/ports/analyst.ts';
import type { Person } from '../../src/ports/toolbox.ts';
import { createContextPart, GraphContextSchema } from '../triage/context.ts';
import type { AskStateValue } from './state.ts';

/** External dependencies of a question. */
export const AskContextSchema = GraphContextSchema.extend({
  converse: createContextPart<Converse<Topic | PlaceTopic>>('analyst', 'understand'),
  /** Called with the pieces of the answer as they arrive, before it is checked. Must not throw. */
  onText: z.custom<(piece: TextPiece) => void>((value) => typeof value === 'function').optional(),
  /** The person who asks, if a model may ask back. */
  person: createContextPart<Person>('person', 'ask').optional(),
});
export type AskRuntime = Runtime<z.infer<typeof AskContextSchema>>;

/** Returns what is known so far, as input for every judgement. */
export function toInquiry(state: AskStateValue): Inquiry<Topic | PlaceTopic> {
  const { topic, question, memory, known, found, outcomes } = state;
  return { topic, question, memory, evidence: [...known, ...found], found, outcomes };
}

/** Returns the category whose tools may be called. The tools for a place serve the first one. */
export function getToolCategory({ topic }: Pick<AskStateValue, 'topic'>): Category {
  return 'analysis' in topic ? topic.analysis.category : 'CODE_ERROR';
}

/**
 * Returns what the question asks for. Every judgement after `understand` has it. Throws `internal` before
 * that.
 */
export function getUnderstanding(state: AskStateValue): Understanding {
  if (state.understanding === null)
    throw new TriageError('internal', 'The ask graph reached a judgement before understand');
  return state.understanding;
}
