import { contextOf } from '../../triage/context.ts';
import { costOf, finishedStep } from '../../triage/judge.ts';
import { type AskRuntime, inquiryOf } from '../judge.ts';
import type { AskStateUpdate, AskStateValue } from '../state.ts';

/** Says what the question asks for, and so how its answer is laid out. */
export async function understand(state: AskStateValue, runtime: AskRuntime): Promise<AskStateUpdate> {
  const context = contextOf(runtime);
  const startedAt = context.clock.now();
  const judgement = await context.converse.understand(inquiryOf(state), runtime.signal);
  const { shape, about } = judgement.value;
  return {
    understanding: judgement.value,
    ...costOf('ask_understand', judgement),
    ...finishedStep(context, startedAt, { node: 'understand', round: 0, summary: `${shape}: ${about}` }, judgement),
  };
}
