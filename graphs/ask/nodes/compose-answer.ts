import { type AskRuntime, contextOf } from '../context.ts';
import { costOf, finishedStep, inquiryOf, understandingOf } from '../judge.ts';
import type { AskStateUpdate, AskStateValue } from '../state.ts';

/** Answers in the shape of the question, told as it comes. */
export async function composeAnswer(state: AskStateValue, runtime: AskRuntime): Promise<AskStateUpdate> {
  const { converse, clock, onText } = contextOf(runtime);
  const startedAt = clock.now();
  const input = { ...inquiryOf(state), understanding: understandingOf(state), onText: onText ?? (() => undefined) };
  const judgement = await converse.reply(input, runtime.signal);
  const count = judgement.value.length;
  const summary = `${count} ${count === 1 ? 'statement' : 'statements'}`;
  return {
    reply: [...judgement.value],
    analyst: judgement.by,
    ...costOf('ask_answer', judgement),
    ...finishedStep(runtime, startedAt, { node: 'compose_answer', round: state.rounds, summary }, judgement),
  };
}
