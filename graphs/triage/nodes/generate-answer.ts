import { spentOf } from '../budget.ts';
import type { TriageRuntime } from '../context.ts';
import { insightOf } from '../insight.ts';
import { costOf, finishedStep, judged, startWatch, traceOf } from '../judge.ts';
import { byPrecedent, withSimilarCases } from '../precedent.ts';
import { storedTermination } from '../routes.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/** Says what is known: cause, fix, claims with their evidence, suspects. What a person decided for a like failure counts where the log does not tell. */
export async function generateAnswer(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const watch = startWatch(runtime);
  const termination = storedTermination(state);
  const insight = insightOf(state);
  const classification = byPrecedent(insight.classification, state.evidence);
  const judgement = await judged(runtime, { limits: state.limits, spent: spentOf(state) }, (analyst, signal) =>
    analyst.answer({ ...insight, classification }, signal),
  );
  return {
    classification,
    answer: withSimilarCases(judgement.value, state.evidence),
    termination,
    ...costOf('generate_answer', judgement),
    ...finishedStep(runtime, watch, {
      node: 'generate_answer',
      round: state.rounds,
      by: judgement.by,
      judgements: [traceOf(runtime, 'generate_answer', watch.startedAt, judgement)],
      summary: `${judgement.value.title} (${termination})`,
    }),
  };
}
