import type { Statement, Understanding } from '../domain/conversation.ts';
import type { Converse, Inquiry, Judgement } from '../ports/analyst.ts';
import { chooseLookups } from './converse/choose-lookups.ts';
import { laidOut } from './converse/statements.ts';
import { tellComparison } from './converse/tell-comparison.ts';
import { tellExplanation } from './converse/tell-explanation.ts';
import { tellJourney } from './converse/tell-journey.ts';
import { understandQuestion } from './converse/understand-question.ts';

type Judge = <Value>(signal: AbortSignal, decide: () => Value) => Promise<Judgement<Value>>;

/**
 * Follow-up questions with no model: the stored analysis, its evidence, and what the tools say, laid out as the question asks. It knows
 * questions by their words, and says what it can tell where it does not know them.
 */
export function createRulesConverse(judge: Judge): Converse {
  return {
    understand: ({ question }, signal) => judge(signal, () => understandQuestion(question)),
    chooseTools: (input, signal) => judge(signal, () => chooseLookups(input)),
    reply: (input, signal) =>
      judge(signal, () => {
        const statements = statementsOf(input);
        for (const { lead, text } of statements) input.onText({ text: lead + text });
        return statements;
      }),
  };
}

function statementsOf(input: Inquiry & { understanding: Understanding }): Statement[] {
  switch (input.understanding.shape) {
    case 'journey':
      return laidOut(tellJourney(input), 'numbered');
    case 'comparison':
      return laidOut(tellComparison(input), 'list');
    case 'explanation':
      return laidOut(tellExplanation(input), 'list');
  }
}
