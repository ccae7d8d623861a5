import type { Classification, Suspect, Verdict } from '../../../src/domain/analysis.ts';
import { spentOf } from '../../triage/budget.ts';
import type { TriageRuntime } from '../../triage/context.ts';
import { insightOf } from '../../triage/insight.ts';
import { costOf, finishedStep, judged, startWatch, traceOf } from '../../triage/judge.ts';
import type { TriageLimits } from '../../triage/state.ts';
import type { LinearStateUpdate, LinearStateValue, NamedFile } from '../state.ts';

/** Says what is known, suspects the files that the log names, and publishes what was classified surely enough. Nothing is checked. */
export async function generateAnswer(state: LinearStateValue, runtime: TriageRuntime): Promise<LinearStateUpdate> {
  const watch = startWatch(runtime);
  const insight = insightOf(state);
  const budget = { limits: state.limits, spent: spentOf(state) };
  const judgement = await judged(runtime, budget, (analyst, signal) => analyst.answer(insight, signal));
  const verdict = verdictOf(insight.classification, state.limits);
  return {
    answer: { ...judgement.value, suspects: suspectsOf(state.files), confidence: verdict.confidence },
    verdict,
    termination: 'linear',
    ...costOf('generate_answer', judgement),
    ...finishedStep(runtime, watch, {
      node: 'generate_answer',
      round: 0,
      by: judgement.by,
      judgements: [traceOf(runtime, 'generate_answer', watch.startedAt, judgement)],
      summary: `${judgement.value.title} (linear)`,
    }),
  };
}

/** The first named is the most suspicious. */
function suspectsOf(files: readonly NamedFile[]): Suspect[] {
  return files.map(({ path, line }, rank) => ({
    path,
    line,
    commit: null,
    author: null,
    score: 1 / (rank + 1),
    reason: 'the log names it',
  }));
}

function verdictOf({ confidence, abstained }: Classification, { thresholds }: TriageLimits): Verdict {
  const isSure = !abstained && confidence >= thresholds.autoNotify;
  const said = `the category has a probability of ${confidence.toFixed(2)}; nothing was verified (linear baseline)`;
  return { grades: {}, unsupportedClaims: [], gaps: [], confidence, action: isSure ? 'auto_notify' : 'human_review', reasons: [said] };
}
