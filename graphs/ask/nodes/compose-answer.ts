import { getContext } from '../../triage/context.ts';
import { createFinishedStep, toCostUpdate } from '../../triage/finished-step.ts';
import { type AskRuntime, getUnderstanding, toInquiry } from '../context.ts';
import type { AskStateUpdate, AskStateValue } from '../state.ts';

/** Writes the answer in the shape of the question. Its pieces are reported as they arrive. */
export async function composeAnswer(state: AskStateValue, runtime: AskRuntime): Promise<AskStateUpdate> {
  const context = getContext(runtime);
  const startedAt = context.clock.now();
  const input = {
    ...toInquiry(state),
    understanding: getUnderstanding(state),
    onText: context.onText ?? (() => undefined),
  };
  const judgment = await context.converse.reply(input, runtime.signal);
  const count = judgment.value.length;
  const summary = `${count} ${count === 1 ? 'statement' : 'statements'}`;
  return {
    reply: [...judgment.value],
    analyst: judgment.by,
    ...toCostUpdate('ask_answer', judgment),
    ...createFinishedStep(
      context,
      startedAt,
      { node: 'compose_answer', round: state.rounds, summary },
      judgment,
    ),
  };
}
