import type { Analyst, Judgment } from '../ports/analyst.ts';
import { composeAnswer } from './answer.ts';
import { chooseCalls, correctCall, planNext } from './choose-tools.ts';
import { classifyByRules } from './classify.ts';
import { createRulesConverse } from './rules-converse.ts';
import { assess } from './verify.ts';

/**
 * Creates the analyst that works without a model, by rules about what the log reader extracted and what tools
 * retrieved. It is deterministic and offline, costs nothing, and throws only on cancellation. `note` is added
 * to each judgment; it says why the rules judge instead of the configured analyst.
 */
export function createRulesAnalyst({ note = null }: { readonly note?: string | null } = {}): Analyst {
  const judge = async <Value>(signal: AbortSignal, decide: () => Value): Promise<Judgment<Value>> => {
    signal.throwIfAborted();
    return { value: decide(), by: 'rules', usage: FREE, model: null, promptHash: null, note };
  };
  return {
    name: 'rules',
    classify: ({ subject }, signal) => judge(signal, () => classifyByRules(subject).classification),
    plan: (input, signal) => judge(signal, () => planNext(input)),
    chooseTools: (input, signal) => judge(signal, () => chooseCalls(input)),
    correctCall: ({ call, tool, subject }, signal) => judge(signal, () => correctCall(call, tool, subject)),
    answer: (input, signal) => judge(signal, () => composeAnswer(input)),
    verify: (input, signal) => judge(signal, () => assess(input)),
    converse: createRulesConverse(judge),
  };
}

const FREE = { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0 } as const;
