import type { Analyst, Judgement } from '../ports/analyst.ts';
import { composeAnswer } from './answer.ts';
import { chooseCalls, mendCall, planNext } from './choose-tools.ts';
import { ruleOn } from './classify.ts';
import { createRulesConverse } from './converse.ts';
import { assess } from './verify.ts';

export interface RulesAnalystOptions {
  /** Said with each judgement: why the rules judge instead of the configured analyst. */
  readonly note?: string;
}

/**
 * The analyst that works with no model: rules over what the log reader extracted, and what was retrieved. Deterministic, offline,
 * costs nothing; never throws except when cancelled.
 */
export function createRulesAnalyst(options: RulesAnalystOptions = {}): Analyst {
  const judge = async <Value>(signal: AbortSignal, decide: () => Value): Promise<Judgement<Value>> => {
    signal.throwIfAborted();
    return { value: decide(), by: 'rules', usage: FREE, model: null, promptHash: null, note: options.note ?? null };
  };
  return {
    name: 'rules',
    classify: ({ subject }, signal) => judge(signal, () => ruleOn(subject).classification),
    plan: (input, signal) => judge(signal, () => planNext(input)),
    chooseTools: (input, signal) => judge(signal, () => chooseCalls(input)),
    correctCall: ({ call, tool, subject }, signal) => judge(signal, () => mendCall(call, tool, subject)),
    answer: (input, signal) => judge(signal, () => composeAnswer(input)),
    verify: (input, signal) => judge(signal, () => assess(input)),
    converse: createRulesConverse(judge),
  };
}

const FREE = { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0 } as const;
