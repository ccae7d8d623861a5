import { getContext } from '../../triage/context.ts';
import { createFinishedStep, toCostUpdate } from '../../triage/finished-step.ts';
import { type AskRuntime, toInquiry } from '../context.ts';
import type { AskStateUpdate, AskStateValue } from '../state.ts';

/** Determines what the question asks for, and how its answer is laid out. */
export async function understand(state: AskStateValue, runtime: AskRuntime): Promise<AskStateUpdate> {
  const context = getContext(runtime);
  const startedAt = context.clock.now();
  const judgment = await context.converse.understand(toInquiry(state), runtime.signal);
  const { shape, about } = judgment.value;
  return {
    understanding: judgment.value,
    ...toCostUpdate('ask_understand', judgment),
    ...createFinishedStep(
      context,
      startedAt,
      { node: 'understand', round: 0, summary: `${shape}: ${about}` },
      judgment,
    ),
  };
}
