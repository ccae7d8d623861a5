import { type CategoryMap, calibrateConfidence } from '../../domain/calibration.ts';
import { CATEGORIES, type Category } from '../../domain/category.ts';
import { computeCasesNeeded, computeUpperShare, type Risk } from '../../lib/binomial-bound.ts';
import { getWeight, type LabelledAnswer } from './fit.ts';

export interface CategoryThreshold {
  readonly category: Category;
  /**
   * The calibrated probability from which an answer may be published; null if no threshold meets the risk
   * limit, so that a person always decides.
   */
  readonly threshold: number | null;
  readonly cases: number;
  /** The number of cases at or above the threshold, and how many of them are wrong. */
  readonly published: number;
  readonly wrong: number;
  /** The upper bound of the share of wrong answers among the published ones; null if none is published. */
  readonly upper: number | null;
  /** The minimum number of cases that would be needed if none were wrong. */
  readonly needed: number;
}

/**
 * The verified confidence up to which the `human_review` rule may hold answers back, regardless of
 * calibration. It is the default of its threshold.
 */
const DOUBTED = 0.65;
const MAX_STARTS = 4;

/**
 * Returns for each category the lowest threshold that meets the risk limit. Many thresholds are tested on the
 * same cases, so Learn then Test is used (Angelopoulos et al. 2021, arXiv 2110.01052): fixed sequences from
 * the most confident answers downwards, each up to its first failure. Where the sequences begin depends on
 * the number of cases and never on which are right, and they share the allowed error equally. A test is the
 * one-sided Clopper-Pearson bound; the guarantee holds for each category separately. `doubted` is the
 * threshold of `human_review`. No returned threshold is at or below it, because an unknown part of such
 * answers is held back.
 */
export function findThresholds(
  answers: readonly LabelledAnswer[],
  maps: Readonly<Record<Category, CategoryMap>>,
  risk: Risk,
  doubted: number = DOUBTED,
): CategoryThreshold[] {
  return CATEGORIES.map((category) => {
    const ofCategory = answers.filter((answer) => answer.category === category);
    return findThreshold(category, ofCategory, maps[category], { risk, doubted });
  });
}

function findThreshold(
  category: Category,
  answers: readonly LabelledAnswer[],
  map: CategoryMap,
  { risk, doubted }: { readonly risk: Risk; readonly doubted: number },
): CategoryThreshold {
  const levels = listLevels(answers, map, doubted);
  const none = { category, cases: answers.length, needed: computeCasesNeeded(risk) };
  const found = findLowestLevel(levels, risk);
  if (found === null) return { ...none, threshold: null, published: 0, wrong: 0, upper: null };
  return { ...none, threshold: found.at, published: found.published, wrong: found.wrong, upper: found.upper };
}

/**
 * The answers with at least a certain stated probability. `at` is the confidence after verification of the
 * least confident one; null if other answers have the same confidence, so that no threshold can be there.
 * `size` is the effective sample size.
 */
interface Level {
  readonly at: number | null;
  readonly published: number;
  readonly wrong: number;
  readonly size: number;
  readonly share: number;
}

/** A level whose threshold meets the risk limit. */
interface Kept extends Level {
  readonly at: number;
  readonly upper: number;
}

/**
 * Lists the levels from the most confident answer downwards, by stated probability and not by the calibration
 * map. The map joins levels depending on which answers are right, and a test must not depend on that.
 */
function listLevels(answers: readonly LabelledAnswer[], { points }: CategoryMap, doubted: number): Level[] {
  const least = calibrateConfidence(points, doubted);
  const sure = answers
    .filter(({ stated }) => stated > doubted)
    .sort((left, right) => right.stated - left.stated);
  const levels: Level[] = [];
  let [published, wrong, weight, squares, wrongWeight] = [0, 0, 0, 0, 0];
  for (const [index, answer] of sure.entries()) {
    published++;
    weight += getWeight(answer);
    squares += getWeight(answer) ** 2;
    if (!answer.right) {
      wrong++;
      wrongWeight += getWeight(answer);
    }
    const next = sure[index + 1]?.stated;
    if (next === answer.stated) continue;
    const at = calibrateConfidence(points, answer.stated);
    const isEnd = at > (next === undefined ? least : calibrateConfidence(points, next));
    // Kish's effective sample size
    levels.push({
      at: isEnd ? at : null,
      published,
      wrong,
      size: weight ** 2 / squares,
      share: wrongWeight / weight,
    });
  }
  return levels;
}

function findLowestLevel(levels: readonly Level[], { most, confidence }: Risk): Kept | null {
  const size = levels.at(-1)?.size ?? 0;
  const doublings = Math.floor(Math.log2(Math.max(1, size / computeCasesNeeded({ most, confidence }))));
  const sequences = Math.min(MAX_STARTS, 1 + doublings);
  const surely = 1 - (1 - confidence) / sequences;
  const needed = computeCasesNeeded({ most, confidence: surely });
  let lowest: Kept | null = null;
  for (let sequence = 0; sequence < sequences; sequence++) {
    for (const level of levels.filter((other) => other.size >= needed * 2 ** sequence)) {
      const upper = computeUpperShare(level.share * level.size, level.size, surely);
      if (upper > most) break;
      if (level.at !== null && (lowest === null || level.at < lowest.at))
        lowest = { ...level, at: level.at, upper };
    }
  }
  return lowest;
}
