import type { Answer, Classification, SimilarCase } from '../../../src/domain/analysis.ts';
import {
  type Category,
  type CategoryProbabilities,
  getKindRow,
  mapCategories,
} from '../../../src/domain/category.ts';
import type { Evidence } from '../../../src/domain/evidence.ts';
import { type DataFrom, listEvidenceFrom } from '../../../src/domain/finding-data.ts';
import { askAnalyst } from '../ask-analyst.ts';
import { computeSpent } from '../budget.ts';
import type { TriageRuntime } from '../context.ts';
import { createJudgedStep, getNow } from '../finished-step.ts';
import { toStoredTermination } from '../routes.ts';
import { type TriageStateUpdate, type TriageStateValue, toInsight } from '../state.ts';

/**
 * Writes the answer: cause, fix, claims with their evidence, and suspects. A person's decision about a
 * sufficiently similar failure determines the category.
 */
export async function generateAnswer(
  state: TriageStateValue,
  runtime: TriageRuntime,
): Promise<TriageStateUpdate> {
  const startedAt = getNow(runtime);
  const termination = toStoredTermination(state);
  const insight = toInsight(state);
  const classification = applyPrecedent(insight.classification, state.evidence);
  const judgment = await askAnalyst(
    runtime,
    { limits: state.limits, spent: computeSpent(state) },
    (analyst, signal) => analyst.answer({ ...insight, classification }, signal),
  );
  const summary = `${judgment.value.title} (${termination})`;
  return {
    classification,
    answer: withSimilarCases(judgment.value, state.evidence),
    termination,
    ...createJudgedStep(
      runtime,
      startedAt,
      { node: 'generate_answer', round: state.rounds, summary },
      judgment,
    ),
  };
}

/**
 * The confidence in a category that a person decided for a similar failure. It is enough to be shown, but
 * never to be published without a person.
 */
const SAID = 0.6;
const MAX_CASES = 5;

/**
 * The minimum similarity at which a decision proposes its category, if the tool that found it does not say.
 */
const ALIKE = 0.75;

/** Lists similar failures from the error library, most similar first. */
function listSimilarCases(evidence: readonly Evidence[]): SimilarCase[] {
  return listEvidenceFrom(evidence, ['search_error_library'])
    .map(({ item: { id, title, score }, data: { category, confirmedBy, repository } }) => {
      const decided = { evidence: id, title, category, confirmedBy, score: score ?? 0 };
      return repository === null ? decided : { ...decided, repository };
    })
    .sort((left, right) => right.score - left.score)
    .slice(0, MAX_CASES);
}

/** Returns the answer with similar cases to compare it with. Returns it unchanged if there are none. */
export function withSimilarCases(answer: Answer, evidence: readonly Evidence[]): Answer {
  const cases = listSimilarCases(evidence);
  return cases.length === 0 ? answer : { ...answer, similarCases: cases };
}

/**
 * Returns the category that a person decided for a sufficiently similar failure, in this repository or
 * another, even if the log alone suggests another category. If there is none, returns the category of a
 * team's document that names the error. Returns the classification unchanged if there is neither, or if the
 * decision has the same category and the log shows it clearly.
 */
export function applyPrecedent(
  classification: Classification,
  evidence: readonly Evidence[],
): Classification {
  const decided = listSimilarCases(evidence).find(
    (entry) => entry.confirmedBy !== null && entry.category !== null && proposes(entry, evidence),
  );
  if (decided === undefined || decided.category === null) return applyDocument(classification, evidence);
  const { category } = decided;
  const isSame = category === classification.category;
  if (isSame && !classification.abstained && classification.confidence >= SAID) return classification;
  const kind = isSame ? classification.kind : (readDecided(decided, evidence)?.kind ?? 'unknown');
  const alone =
    isSame || classification.abstained ? '' : `; the log alone suggests ${classification.category}`;
  return {
    category,
    kind: kind === 'unknown' || getKindRow(kind).category === category ? kind : 'unknown',
    confidence: SAID,
    probabilities: setLeadingCategory(classification.probabilities, category),
    abstained: false,
    because: `${decided.confirmedBy} decided this way for a similar failure (${decided.evidence})${alone}`,
    witnesses: [{ by: 'precedent', name: decided.title, at: null }],
  };
}

/**
 * Returns the category of a team's document that names the error, if the log alone suggests none. Otherwise
 * returns the classification unchanged.
 */
function applyDocument(classification: Classification, evidence: readonly Evidence[]): Classification {
  if (!classification.abstained) return classification;
  for (const { item, data } of listEvidenceFrom(evidence, ['search_knowledge'])) {
    const { id, source, title } = item;
    const { named, category } = data;
    if (!source.startsWith('team-knowledge/') || named === null || category === null) continue;
    return {
      category,
      kind: getKindRow(classification.kind).category === category ? classification.kind : 'unknown',
      confidence: SAID,
      probabilities: setLeadingCategory(classification.probabilities, category),
      abstained: false,
      because: `your document “${title}” names this error (${id})`,
      witnesses: [{ by: 'precedent', name: title, at: null }],
    };
  }
  return classification;
}

function proposes(decided: SimilarCase, evidence: readonly Evidence[]): boolean {
  return readDecided(decided, evidence)?.proposes ?? decided.score >= ALIKE;
}

function readDecided(
  { evidence: id }: SimilarCase,
  evidence: readonly Evidence[],
): DataFrom<'search_error_library'> | undefined {
  return listEvidenceFrom(evidence, ['search_error_library']).find(({ item }) => item.id === id)?.data;
}

/**
 * Sets the probability of the category to `SAID`. The other categories share the rest in the same proportions
 * as before.
 */
function setLeadingCategory(probabilities: CategoryProbabilities, category: Category): CategoryProbabilities {
  const others = Math.max(1e-6, 1 - probabilities[category]);
  const share = (other: Category) =>
    Math.round((other === category ? SAID : ((1 - SAID) * probabilities[other]) / others) * 1e4) / 1e4;
  return mapCategories(share);
}
