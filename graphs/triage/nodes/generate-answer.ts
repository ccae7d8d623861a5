import { z } from 'zod';
import type { Answer, Classification, SimilarCase } from '../../../src/domain/analysis.ts';
import { byCategory, Category, type CategoryProbabilities, KIND_CATEGORY, Kind } from '../../../src/domain/category.ts';
import type { Evidence } from '../../../src/domain/evidence.ts';
import { computeSpent } from '../budget.ts';
import type { TriageRuntime } from '../context.ts';
import { getStartTime, judged, judgedStep } from '../judge.ts';
import { storedTermination } from '../routes.ts';
import { type TriageStateUpdate, type TriageStateValue, toInsight } from '../state.ts';

/** Says what is known: cause, fix, claims with their evidence, suspects. What a person decided for a like failure counts where the log does not tell. */
export async function generateAnswer(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const startedAt = getStartTime(runtime);
  const termination = storedTermination(state);
  const insight = toInsight(state);
  const classification = byPrecedent(insight.classification, state.evidence);
  const judgement = await judged(runtime, { limits: state.limits, spent: computeSpent(state) }, (analyst, signal) =>
    analyst.answer({ ...insight, classification }, signal),
  );
  const summary = `${judgement.value.title} (${termination})`;
  return {
    classification,
    answer: withSimilarCases(judgement.value, state.evidence),
    termination,
    ...judgedStep(runtime, startedAt, { node: 'generate_answer', round: state.rounds, summary }, judgement),
  };
}

/** Below this confidence a category yields to what a person decided for a failure like this one. */
const UNSURE = 0.65;
/** Minimum similarity at which two failures count as having the same category. */
const ALIKE = 0.75;
/**
 * Confidence in a category that a person decided for a similar failure: enough to be shown, never enough to
 * be published without a person.
 */
const SAID = 0.6;
const MOST_CASES = 5;

const Decided = z.object({
  category: Category.nullish().catch(null),
  kind: Kind.nullish().catch(null),
  confirmedBy: z.string().nullish().catch(null),
});

/** Lists similar failures from the error library, most similar first. */
function similarCases(evidence: readonly Evidence[]): SimilarCase[] {
  return evidence
    .filter(({ tool }) => tool === 'search_error_library')
    .map(({ id, title, score, data }) => {
      const { category = null, confirmedBy = null } = Decided.safeParse(data ?? {}).data ?? {};
      return { evidence: id, title, category, confirmedBy, score: score ?? 0 };
    })
    .sort((left, right) => right.score - left.score)
    .slice(0, MOST_CASES);
}

/** Returns the answer with similar cases to compare it with. Returns it unchanged if there are none. */
export function withSimilarCases(answer: Answer, evidence: readonly Evidence[]): Answer {
  const cases = similarCases(evidence);
  return cases.length === 0 ? answer : { ...answer, similarCases: cases };
}

/**
 * Returns what a person decided for a similar failure if the log does not show the category. Returns the
 * classification unchanged otherwise.
 */
export function byPrecedent(classification: Classification, evidence: readonly Evidence[]): Classification {
  if (!classification.abstained && classification.confidence >= UNSURE) return classification;
  const decided = similarCases(evidence).find((one) => one.confirmedBy !== null && one.category !== null && one.score >= ALIKE);
  if (decided === undefined || decided.category === null) return classification;
  const { category } = decided;
  const data = Decided.safeParse(evidence.find(({ id }) => id === decided.evidence)?.data ?? {}).data;
  const kind = category === classification.category ? classification.kind : (data?.kind ?? 'unknown');
  return {
    category,
    kind: kind === 'unknown' || KIND_CATEGORY[kind] === category ? kind : 'unknown',
    confidence: SAID,
    probabilities: leading(classification.probabilities, category),
    abstained: false,
    because: `${decided.confirmedBy} decided this way for a similar failure (${decided.evidence})`,
    witnesses: [{ by: 'precedent', name: decided.title, at: null }],
  };
}

/**
 * Sets the probability of the category to `SAID`. The other categories share the rest in the same proportions
 * as before.
 */
function leading(probabilities: CategoryProbabilities, category: Category): CategoryProbabilities {
  const others = Math.max(1e-6, 1 - probabilities[category]);
  const share = (one: Category) => Math.round((one === category ? SAID : ((1 - SAID) * probabilities[one]) / others) * 1e4) / 1e4;
  return byCategory(share);
}
