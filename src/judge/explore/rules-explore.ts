import type { QuestionShape, Statement } from '../../domain/conversation.ts';
import type { Converse, Inquiry, Judgement, PlaceTopic } from '../../ports/analyst.ts';
import type { Draft } from '../drafts.ts';
import { answerPlaceQuestion } from './place-answers.ts';
import { choosePlaceCalls } from './place-lookups.ts';
import { createTitle, type PlaceQuestion, readPlaceQuestion } from './place-questions.ts';

const FREE = { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0 } as const;

/**
 * Answers questions about a repository without a model: a small table of forms of questions, answered by
 * tools with quotations of what they found. Of any other question it says that it cannot answer it.
 */
export function createRulesExplore({
  note = null,
}: {
  readonly note?: string | null;
} = {}): Converse<PlaceTopic> {
  const judge = async <Value>(signal: AbortSignal, value: Value): Promise<Judgement<Value>> => {
    signal.throwIfAborted();
    return { value, by: 'rules', usage: FREE, model: null, promptHash: null, note };
  };
  return {
    understand: (input, signal) => {
      const question = read(input);
      const title = createTitle(question, input.topic.place.name);
      return judge(signal, { shape: question.shape, about: question.form ?? 'anything else', title });
    },
    chooseTools: (input, signal) => judge(signal, choosePlaceCalls(read(input), input)),
    reply: (input, signal) => {
      const statements = layOut(answerPlaceQuestion(read(input), input), input.understanding.shape);
      for (const { lead, text } of statements) input.onText({ text: lead + text });
      return judge(signal, statements);
    },
  };
}

function read({ question, memory }: Inquiry<PlaceTopic>): PlaceQuestion {
  return readPlaceQuestion(question, memory.recent.at(-1)?.question ?? null);
}

function layOut(drafts: readonly Draft[], shape: QuestionShape): Statement[] {
  return drafts.map((draft, index) => {
    const mark = shape === 'journey' ? `${index + 1}. ` : '- ';
    return { lead: index === 0 ? mark : `\n${mark}`, ...draft };
  });
}
