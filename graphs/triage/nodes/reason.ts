import { NO_USAGE } from '../../../src/domain/analysis.ts';
import { contextOf, type TriageRuntime } from '../context.ts';
import { insightOf } from '../insight.ts';
import { costOf, finishedStep, startWatch, traceOf } from '../judge.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/** Begins a round: what is known, what is missing, how sure. Rounds are counted here and nowhere else. */
export async function reason(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const watch = startWatch(runtime);
  const round = state.rounds + 1;
  const judgement = await contextOf(runtime).analyst.plan({ ...insightOf(state), round }, runtime.signal);
  const { thought, confidence } = judgement.value;
  return {
    plan: judgement.value,
    rounds: round,
    ...costOf('reason', judgement, { ...NO_USAGE, ...judgement.usage, iterations: 1 }),
    ...finishedStep(runtime, watch, {
      node: 'reason',
      round,
      by: judgement.by,
      judgements: [traceOf(runtime, 'reason', watch.startedAt, judgement)],
      summary: `${confidence.toFixed(2)}: ${thought}`,
    }),
  };
}
