import { type JudgementTrace, NO_USAGE, type Step, type Usage } from '../../src/domain/analysis.ts';
import type { Clock } from '../../src/lib/time.ts';
import type { Judgment } from '../../src/ports/analyst.ts';
import { getContext, type TriageRuntime } from './context.ts';

interface StepContext {
  readonly clock: Clock;
  readonly onStep?: ((step: Step) => void) | undefined;
}
type StepFacts = Pick<Step, 'node' | 'round' | 'summary'> &
  Partial<Pick<Step, 'by' | 'outcomes' | 'judgements' | 'investigator'>>;

/**
 * Creates the state update with the trace entry of a finished node and, if there is one, of its judgment.
 * Also passes the entry to `onStep`. The judgment gets the duration of the whole node.
 */
export function createFinishedStep(
  { clock, onStep }: StepContext,
  startedAt: number,
  facts: StepFacts,
  judgment?: Judgment<unknown>,
): { readonly steps: Step[] } {
  const milliseconds = Math.max(0, clock.now() - startedAt);
  const by =
    judgment === undefined
      ? {}
      : { by: judgment.by, judgements: [toJudgmentTrace(facts.node, milliseconds, judgment)] };
  const step: Step = { ...facts, ...by, startedAt: new Date(startedAt).toISOString(), milliseconds };
  onStep?.(step);
  return { steps: [step] };
}

/**
 * Returns what a judgment adds to the state: cost, prompt, model, and the note of a fallback analyst.
 */
export function toCostUpdate(name: string, judgment: Judgment<unknown>, extra: Partial<Usage> = {}) {
  return {
    usage: { ...sumUsage([judgment]), ...extra },
    ...(judgment.promptHash === null ? {} : { promptHashes: { [name]: judgment.promptHash } }),
    ...(judgment.model === null ? {} : { model: judgment.model }),
    ...(judgment.note === null ? {} : { notes: [judgment.note] }),
  };
}

/**
 * Returns what a node with one judgment adds to the state in addition to its value: the cost of the judgment
 * and the finished step.
 */
export function createJudgedStep(
  runtime: TriageRuntime,
  startedAt: number,
  facts: StepFacts,
  judgment: Judgment<unknown>,
  extra?: Partial<Usage>,
) {
  return {
    ...toCostUpdate(facts.node, judgment, extra),
    ...createFinishedStep(getContext(runtime), startedAt, facts, judgment),
  };
}

/** Returns the current time in milliseconds since 1970. A node calls it first, for its step. */
export function getNow(runtime: TriageRuntime): number {
  return getContext(runtime).clock.now();
}

/** Returns the total usage of several judgments. */
export function sumUsage(judgments: readonly Judgment<unknown>[]): Usage {
  const sum = (value: (usage: Judgment<unknown>['usage']) => number) =>
    judgments.reduce((total, { usage }) => total + value(usage), 0);
  return {
    ...NO_USAGE,
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    costUsd: sum((usage) => usage.costUsd),
    modelCalls: sum((usage) => usage.modelCalls),
  };
}

/** Returns a judgment as the trace shows it. */
export function toJudgmentTrace(
  name: string,
  milliseconds: number,
  judgment: Judgment<unknown>,
): JudgementTrace {
  const { by, model, promptHash, note, usage } = judgment;
  return { name, by, model, promptHash, note, milliseconds: Math.max(0, milliseconds), ...usage };
}
