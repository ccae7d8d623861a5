import { spentOf } from '../budget.ts';
import type { TriageRuntime } from '../context.ts';
import { insightOf } from '../insight.ts';
import { costOf, finishedStep, judged, startWatch, traceOf } from '../judge.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/** Begins a round: what is known, what is missing, how sure. Rounds are counted here and nowhere else. */
export async function reason(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const watch = startWatch(runtime);
  const round = state.rounds + 1;
  const judgement = await judged(runtime, { limits: state.limits, spent: spentOf(state) }, (analyst, signal) =>
    analyst.plan({ ...insightOf(state), round }, signal),
  );
  const { thought, confidence } = judgement.value;
  return {
    plan: judgement.value,
    rounds: round,
    ...costOf('reason', judgement, { iterations: 1 }),
    ...finishedStep(runtime, watch, {
      node: 'reason',
      round,
      by: judgement.by,
      judgements: [traceOf(runtime, 'reason', watch.startedAt, judgement)],
      summary: `${confidence.toFixed(2)}: ${thought}`,
    }),
  };
}
