import { type CategoryMap, calibratedConfidence } from '../../domain/calibration.ts';
import { CATEGORIES, type Category } from '../../domain/category.ts';
import { casesNeeded, type Risk, upperShare } from '../../lib/binomial-bound.ts';
import { type LabelledAnswer, weightOf } from './fit.ts';

export interface CategoryThreshold {
  readonly category: Category;
  /** From which calibrated probability on an answer may be published; null: none keeps to the risk, so always a person. */
  readonly threshold: number | null;
  readonly cases: number;
  /** Of the cases, those at or above the threshold, and how many of them are wrong. */
  readonly published: number;
  readonly wrong: number;
  /** The highest share of wrong ones among the published that these leave possible; null where none is published. */
  readonly upper: number | null;
  /** So many cases without a wrong one would be needed at least. */
  readonly needed: number;
}

/** At or below this, as verified, doubts hold answers back whatever a calibration says: the usual threshold of `human_review`. */
const DOUBTED = 0.65;
const MOST_STARTS = 4;

/**
 * Per category the lowest threshold that keeps to the risk. Many thresholds are tried on the same cases, so they are tried by the
 * rule of Learn then Test (Angelopoulos et al. 2021, arXiv 2110.01052): fixed sequences from the surest answers downwards, each until
 * its first failure; where they begin depends on how many cases there are and never on which are right; several sequences share the allowed error
 * evenly. A test is the one-sided Clopper-Pearson bound. It holds for each category by itself. `doubted`: the threshold of `human_review`;
 * no threshold lets an answer that is no surer through, since doubts hold some of those back and nobody knows which.
 */
export function thresholdsAt(
  answers: readonly LabelledAnswer[],
  maps: Readonly<Record<Category, CategoryMap>>,
  risk: Risk,
  doubted: number = DOUBTED,
): CategoryThreshold[] {
  return CATEGORIES.map((category) => {
    const own = answers.filter((answer) => answer.category === category);
    return thresholdOf(category, own, maps[category], { risk, doubted });
  });
}

function thresholdOf(
  category: Category,
  own: readonly LabelledAnswer[],
  map: CategoryMap,
  { risk, doubted }: { readonly risk: Risk; readonly doubted: number },
): CategoryThreshold {
  const levels = levelsOf(own, map, doubted);
  const none = { category, cases: own.length, needed: casesNeeded(risk) };
  const found = lowestLevel(levels, risk);
  if (found === null) return { ...none, threshold: null, published: 0, wrong: 0, upper: null };
  return { ...none, threshold: found.at, published: found.published, wrong: found.wrong, upper: found.upper };
}

/**
 * What would be published from a stated probability on. `at`: the confidence that verify makes of it; null where it makes the same of less sure
 * answers, so that no threshold ends here. `size`: how many equal cases that is worth.
 */
interface Level {
  readonly at: number | null;
  readonly published: number;
  readonly wrong: number;
  readonly size: number;
  readonly share: number;
}

/** A level at which a threshold was found to keep to the risk. */
interface Kept extends Level {
  readonly at: number;
  readonly upper: number;
}

/**
 * From the surest answer downwards, by what was stated and not by the map: the map joins levels by which answers are right, and what is tested
 * must not go by that.
 */
function levelsOf(own: readonly LabelledAnswer[], { points }: CategoryMap, doubted: number): Level[] {
  const least = calibratedConfidence(points, doubted);
  const sure = own.filter(({ stated }) => stated > doubted).sort((left, right) => right.stated - left.stated);
  const levels: Level[] = [];
  let [published, wrong, weight, squares, wrongWeight] = [0, 0, 0, 0, 0];
  for (const [index, answer] of sure.entries()) {
    published++;
    weight += weightOf(answer);
    squares += weightOf(answer) ** 2;
    if (!answer.right) {
      wrong++;
      wrongWeight += weightOf(answer);
    }
    const next = sure[index + 1]?.stated;
    if (next === answer.stated) continue;
    const at = calibratedConfidence(points, answer.stated);
    const isEnd = at > (next === undefined ? least : calibratedConfidence(points, next));
    // Kish's effective size: what unequally weighted cases are worth.
    levels.push({ at: isEnd ? at : null, published, wrong, size: weight ** 2 / squares, share: wrongWeight / weight });
  }
  return levels;
}

function lowestLevel(levels: readonly Level[], { most, confidence }: Risk): Kept | null {
  const size = levels.at(-1)?.size ?? 0;
  const doublings = Math.floor(Math.log2(Math.max(1, size / casesNeeded({ most, confidence }))));
  const sequences = Math.min(MOST_STARTS, 1 + doublings);
  const surely = 1 - (1 - confidence) / sequences;
  const needed = casesNeeded({ most, confidence: surely });
  let lowest: Kept | null = null;
  for (let sequence = 0; sequence < sequences; sequence++) {
    for (const level of levels.filter((one) => one.size >= needed * 2 ** sequence)) {
      const upper = upperShare(level.share * level.size, level.size, surely);
      if (upper > most) break;
      if (level.at !== null && (lowest === null || level.at < lowest.at)) lowest = { ...level, at: level.at, upper };
    }
  }
  return lowest;
}
