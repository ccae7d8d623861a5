import { CATEGORIES, type Category, type CategoryProbabilities } from '../../../domain/category.ts';
import type { Match } from './rule.ts';

/**
 * Log-odds before any evidence. INFRA_ERROR starts lower: calling a real failure an infrastructure failure is the worst mistake.
 */
const PRIOR: Readonly<Record<Category, number>> = {
  CODE_ERROR: 0.2,
  TEST_FAILURE: 0.2,
  DEPENDENCY_ERROR: 0,
  CONFIG_ERROR: 0,
  INFRA_ERROR: -0.3,
};

/** What each further rule of the same category adds, of its own strength: rules of one area are not independent witnesses. */
const CORROBORATION = 0.2;
const WITNESSES = 3;

/** Evidence per category in logits: its best match, and a share of the next best. */
export function evidenceOf(matches: readonly Match[]): Record<Category, number> {
  const evidence = { CODE_ERROR: 0, INFRA_ERROR: 0, CONFIG_ERROR: 0, DEPENDENCY_ERROR: 0, TEST_FAILURE: 0 };
  for (const category of CATEGORIES) {
    const [best, ...others] = matches.filter((match) => match.rule.category === category).map((match) => match.strength);
    const more = others.slice(0, WITNESSES).reduce((sum, strength) => sum + strength, 0);
    evidence[category] = (best ?? 0) + CORROBORATION * more;
  }
  return evidence;
}

/** Softmax over prior plus evidence: the log-odds sum of naive Bayes, normalised over the five categories. */
export function probabilitiesOf(evidence: Readonly<Record<Category, number>>): CategoryProbabilities {
  const weights = CATEGORIES.map((category) => Math.exp(PRIOR[category] + evidence[category]));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = weights.map((weight) => Math.round((weight / total) * 1e4) / 1e4);
  const [code = 0, infra = 0, config = 0, dependency = 0, test = 0] = shares;
  return { CODE_ERROR: code, INFRA_ERROR: infra, CONFIG_ERROR: config, DEPENDENCY_ERROR: dependency, TEST_FAILURE: test };
}

/** Categories, most probable first. */
export function ranked(probabilities: CategoryProbabilities): readonly Category[] {
  return [...CATEGORIES].sort((left, right) => probabilities[right] - probabilities[left]);
}
