import { NO_USAGE, type Step, type Usage } from '../../src/domain/analysis.ts';
import type { Understanding } from '../../src/domain/conversation.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { Inquiry, Judgement } from '../../src/ports/analyst.ts';
import { type AskRuntime, contextOf } from './context.ts';
import type { AskStateUpdate, AskStateValue } from './state.ts';

/** What is known so far, as every judgement sees it. */
export function inquiryOf(state: AskStateValue): Inquiry {
  const { topic, question, memory, known, found, outcomes } = state;
  return { topic, question, memory, evidence: [...known, ...found], found, outcomes };
}

/** What the question asks for; every judgement after `understand` has it. */
export function understandingOf(state: AskStateValue): Understanding {
  if (state.understanding === null) throw new TriageError('internal', 'The ask graph reached a judgement before understand');
  return state.understanding;
}

/** What a judgement adds to the state besides its value: cost, prompt, model, and why somebody else judged. */
export function costOf(name: string, judgement: Judgement<unknown>, extra: Partial<Usage> = {}): AskStateUpdate {
  return {
    usage: { ...NO_USAGE, ...judgement.usage, ...extra },
    ...(judgement.promptHash === null ? {} : { promptHashes: { [name]: judgement.promptHash } }),
    ...(judgement.model === null ? {} : { model: judgement.model }),
    ...(judgement.note === null ? {} : { notes: [judgement.note] }),
  };
}

/** The trace entry of a finished node; also told to whoever watches. With a judgement: who gave it and what it cost. */
export function finishedStep(
  runtime: AskRuntime,
  startedAt: number,
  facts: Pick<Step, 'node' | 'round' | 'summary' | 'outcomes'>,
  judgement?: Judgement<unknown>,
): Pick<AskStateUpdate, 'steps'> {
  const { clock, onStep } = contextOf(runtime);
  const milliseconds = Math.max(0, clock.now() - startedAt);
  const judged = judgement === undefined ? {} : { by: judgement.by, judgements: [traceOf(facts.node, milliseconds, judgement)] };
  const step: Step = { ...facts, ...judged, startedAt: new Date(startedAt).toISOString(), milliseconds };
  onStep?.(step);
  return { steps: [step] };
}

function traceOf(name: string, milliseconds: number, { by, model, promptHash, note, usage }: Judgement<unknown>) {
  return { name, by, model, promptHash, note, milliseconds, ...usage };
}
