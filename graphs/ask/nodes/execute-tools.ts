import { ModelUsage, NO_USAGE, type Usage } from '../../../src/domain/analysis.ts';
import type { ToolOutcome } from '../../../src/domain/evidence.ts';
import { getContext } from '../../triage/context.ts';
import { createFinishedStep } from '../../triage/finished-step.ts';
import { ASK_REVIEWER } from '../../triage/question.ts';
import { createCallsStep, numberEvidence } from '../../triage/tool-calls.ts';
import { askPerson } from '../ask-person.ts';
import { type AskRuntime, getToolCategory } from '../context.ts';
import type { AskStateUpdate, AskStateValue } from '../state.ts';

/**
 * Makes the chosen calls in parallel and numbers new findings. A tool's failure is an observation like any
 * other.
 */
export async function executeTools(state: AskStateValue, runtime: AskRuntime): Promise<AskStateUpdate> {
  const context = getContext(runtime);
  const { subject } = state.topic;
  const category = getToolCategory(state);
  const startedAt = context.clock.now();
  const replies = await Promise.all(
    state.calls.map((call) =>
      call.tool === ASK_REVIEWER && context.person !== undefined
        ? askPerson(call, context.person, runtime.signal)
        : context.toolbox.run(call, subject, category, runtime.signal),
    ),
  );
  // Numbers continue from the highest known one, so that a citation of an earlier turn keeps its meaning.
  const { found, outcomes } = numberEvidence(replies, [...state.known, ...state.found], state.rounds);
  const step = {
    node: 'execute_tools',
    round: state.rounds,
    ...createCallsStep({ replies, judgements: [] }),
  };
  return {
    found,
    gained: found.length,
    outcomes,
    calls: [],
    usage: { ...sumToolUsage(replies), toolCalls: replies.length },
    ...createFinishedStep(context, startedAt, step),
  };
}

/** Returns what tools that asked a model took. */
function sumToolUsage(replies: readonly ToolOutcome[]): Usage {
  const usages = replies
    .filter(({ cached }) => cached !== true)
    .flatMap(({ findings }) => findings.map(({ data }) => ModelUsage.safeParse(data?.usage).data))
    .filter((usage) => usage !== undefined);
  const sum = (value: (usage: ModelUsage) => number) => usages.reduce((all, usage) => all + value(usage), 0);
  return {
    ...NO_USAGE,
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    costUsd: sum((usage) => usage.costUsd),
    modelCalls: sum((usage) => usage.modelCalls),
  };
}
