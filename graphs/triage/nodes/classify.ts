import type { Evidence } from '../../../src/domain/evidence.ts';
import type { TriageSubject } from '../../../src/domain/triage.ts';
import { spentOf } from '../budget.ts';
import type { TriageRuntime } from '../context.ts';
import { costOf, finishedStep, judged, startWatch, traceOf } from '../judge.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/** Says who has to act, and numbers the reader's excerpts as the first evidence. */
export async function classify(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const watch = startWatch(runtime);
  const { subject, limits } = state;
  const judgement = await judged(runtime, { limits, spent: spentOf(state) }, (analyst, signal) => analyst.classify({ subject }, signal));
  const { category, kind, confidence } = judgement.value;
  return {
    classification: judgement.value,
    evidence: evidenceFromExcerpts(subject),
    ...costOf('classify', judgement),
    ...finishedStep(runtime, watch, {
      node: 'classify',
      round: 0,
      by: judgement.by,
      judgements: [traceOf(runtime, 'classify', watch.startedAt, judgement)],
      summary: `${category} (${confidence.toFixed(2)}) ${kind}: ${judgement.value.because}`,
    }),
  };
}

function evidenceFromExcerpts(subject: TriageSubject): Evidence[] {
  return subject.excerpts.map((excerpt, index) => ({
    id: `E${index + 1}`,
    tool: 'log',
    title: excerpt.reason,
    text: excerpt.text,
    source: excerpt.source,
    lineStart: excerpt.lineStart,
    lineEnd: excerpt.lineEnd,
  }));
}
