import { type AskRuntime, contextOf } from '../context.ts';
import { costOf, finishedStep, inquiryOf } from '../judge.ts';
import type { AskStateUpdate, AskStateValue } from '../state.ts';

/** Says what the question asks for, and so how its answer is laid out. */
export async function understand(state: AskStateValue, runtime: AskRuntime): Promise<AskStateUpdate> {
  const { converse, clock } = contextOf(runtime);
  const startedAt = clock.now();
  const judgement = await converse.understand(inquiryOf(state), runtime.signal);
  const { shape, about } = judgement.value;
  return {
    understanding: judgement.value,
    ...costOf('ask_understand', judgement),
    ...finishedStep(runtime, startedAt, { node: 'understand', round: 0, summary: `${shape}: ${about}` }, judgement),
  };
}
