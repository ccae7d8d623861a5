import { isPartHeading } from '../../domain/answer-form.ts';
import type { QuestionShape, Statement } from '../../domain/conversation.ts';
import type { Converse, Inquiry, Judgment, PlaceTopic } from '../../ports/analyst.ts';
import type { Draft } from '../drafts.ts';
import { answerPlaceQuestion } from './place-answers.ts';
import { choosePlaceCalls } from './place-lookups.ts';
import { createTitle, type PlaceQuestion, readPlaceQuestion } from './place-questions.ts';
import { answerFromDocuments, chooseDocumentCalls } from './rules-documents.ts';

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
  const judge = async <Value>(signal: AbortSignal, value: Value): Promise<Judgment<Value>> => {
    signal.throwIfAborted();
    return { value, by: 'rules', usage: FREE, model: null, promptHash: null, note };
  };
  return {
    understand: (input, signal) => {
      if (isAboutDocuments(input)) return judge(signal, understandDocuments(input));
      const question = read(input);
      const title = createTitle(question, input.topic.place.name);
      return judge(signal, { shape: question.shape, about: question.form ?? 'anything else', title });
    },
    chooseTools: (input, signal) =>
      judge(
        signal,
        isAboutDocuments(input) ? chooseDocumentCalls(input) : choosePlaceCalls(read(input), input),
      ),
    reply: (input, signal) => {
      const drafts = isAboutDocuments(input)
        ? answerFromDocuments(input)
        : answerPlaceQuestion(read(input), input);
      const statements = layOut(drafts, input.understanding.shape);
      for (const { lead, text } of statements) input.onText({ text: lead + text });
      return judge(signal, statements);
    },
  };
}

function isAboutDocuments({ topic }: Inquiry<PlaceTopic>): boolean {
  return topic.place.kind === 'documents';
}

/** Determines the shape by the words of the question; the title is the folder's name. */
function understandDocuments({ question, topic }: Inquiry<PlaceTopic>) {
  const isComparison = /\b(?:compare|differ(?:s|ences?|ent)?|versus|vs)\b/i.test(question);
  const shape: QuestionShape = isComparison ? 'comparison' : 'explanation';
  return { shape, about: 'what the documents say', title: topic.place.name };
}

function read({ question, memory }: Inquiry<PlaceTopic>): PlaceQuestion {
  return readPlaceQuestion(question, memory.recent.at(-1)?.question ?? null);
}

function layOut(drafts: readonly Draft[], shape: QuestionShape): Statement[] {
  return drafts.map((draft, index) => {
    const isRow = shape === 'comparison' && draft.text.includes(' | ');
    const mark = isRow || isPartHeading(draft.text) ? '' : '- ';
    return { lead: index === 0 ? mark : `\n${mark}`, ...draft };
  });
}
