import type { Classification } from '../../../src/domain/analysis.ts';
import { formatConfidence } from '../../../src/lib/text.ts';
import type { Plan } from '../../../src/ports/analyst.ts';
import { askAnalyst } from '../ask-analyst.ts';
import { computeSpent } from '../budget.ts';
import type { TriageRuntime } from '../context.ts';
import { createJudgedStep, getNow } from '../finished-step.ts';
import { type TriageStateUpdate, type TriageStateValue, toInsight } from '../state.ts';
import { listOfferedTools } from '../tool-calls.ts';

/**
 * Begins a round. Determines what is known, what is missing, how confident the cause is, and whether another
 * category fits better by now; the tools then follow that category. Only this node counts rounds.
 */
export async function reason(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const startedAt = getNow(runtime);
  const round = state.rounds + 1;
  const insight = toInsight(state);
  const offered = round > state.limits.maxIterations ? [] : await listOfferedTools(state, false, runtime);
  const judgment = await askAnalyst(
    runtime,
    { limits: state.limits, spent: computeSpent(state) },
    (analyst, signal) => analyst.plan({ ...insight, round, offered }, signal),
  );
  const { revised, calls, ...plan } = judgment.value;
  const summary = `${formatConfidence(plan.confidence)}: ${plan.thought}`;
  return {
    plan: {
      ...plan,
      gaps: [...(plan.gaps ?? [])],
      ...(calls === undefined ? {} : { calls: [...calls] }),
    },
    ...(revised === undefined
      ? {}
      : { classification: reviseClassification(insight.classification, revised, plan) }),
    rounds: round,
    ...createJudgedStep(runtime, startedAt, { node: 'reason', round, summary }, judgment, { iterations: 1 }),
  };
}

/**
 * Returns the category that the evidence supports now, with the confidence of the plan. The other categories
 * share the remaining probability in the same proportions as before.
 */
function reviseClassification(
  before: Classification,
  { category, kind }: NonNullable<Plan['revised']>,
  plan: Plan,
): Classification {
  const probabilities = { ...before.probabilities, [category]: plan.confidence };
  const others =
    Object.values(before.probabilities).reduce((sum, probability) => sum + probability, 0) -
    before.probabilities[category];
  for (const [name, value] of Object.entries(before.probabilities))
    if (name !== category)
      Object.assign(probabilities, { [name]: others === 0 ? 0 : (value / others) * (1 - plan.confidence) });
  return {
    category,
    kind,
    confidence: plan.confidence,
    probabilities,
    abstained: false,
    because: plan.thought,
  };
}
