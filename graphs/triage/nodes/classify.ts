import type { Evidence } from '../../../src/domain/evidence.ts';
import type { TriageSubject } from '../../../src/domain/triage.ts';
import { formatConfidence } from '../../../src/lib/text.ts';
import { askAnalyst } from '../ask-analyst.ts';
import { computeSpent } from '../budget.ts';
import type { TriageRuntime } from '../context.ts';
import { createJudgedStep, getNow } from '../finished-step.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/** Determines the category, and numbers the reader's excerpts as the first evidence. */
export async function classify(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const startedAt = getNow(runtime);
  const { subject, limits } = state;
  const judgment = await askAnalyst(runtime, { limits, spent: computeSpent(state) }, (analyst, signal) =>
    analyst.classify({ subject }, signal),
  );
  const { category, kind, confidence, because } = judgment.value;
  const summary = `${category} (${formatConfidence(confidence)}) ${kind}: ${because}`;
  return {
    classification: judgment.value,
    evidence: toEvidence(subject),
    ...createJudgedStep(runtime, startedAt, { node: 'classify', round: 0, summary }, judgment),
  };
}

function toEvidence({ excerpts }: TriageSubject): Evidence[] {
  return excerpts.map(({ reason, text, source, lineStart, lineEnd }, index) => ({
    id: `E${index + 1}`,
    tool: 'log',
    title: reason,
    text,
    source,
    lineStart,
    lineEnd,
  }));
}
