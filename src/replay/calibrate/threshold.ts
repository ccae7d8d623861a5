import { type CategoryMap, calibrated } from '../../domain/calibration.ts';
import { CATEGORIES, type Category } from '../../domain/category.ts';
import { upperShare } from './beta.ts';
import { type LabelledAnswer, weightOf } from './labelled.ts';

/** What an operator states: at most so many wrong among the published, and how surely that is to hold. */
export interface Risk {
  readonly most: number;
  readonly confidence: number;
}

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

/** At or below this, as verified, doubts hold an answer back whatever a calibration says, so no threshold is sought there. */
const DOUBTED = 0.65;
const MOST_STARTS = 4;

/**
 * Per category the lowest threshold that keeps to the risk. Many thresholds are tried on the same cases, so they are tried by the
 * rule of Learn then Test (Angelopoulos et al. 2021, arXiv 2110.01052): fixed sequences from the surest answers downwards, each until
 * its first failure; where they begin depends on how many cases there are and never on which are right; several sequences share the allowed error
 * evenly. A test is the one-sided Clopper-Pearson bound. It holds for each category by itself.
 */
export function thresholdsAt(
  answers: readonly LabelledAnswer[],
  maps: Readonly<Record<Category, CategoryMap>>,
  risk: Risk,
): CategoryThreshold[] {
  return CATEGORIES.map((category) => {
    const own = answers.filter((answer) => answer.category === category);
    return thresholdOf(category, own, maps[category], risk);
  });
}

/** Cases without a wrong one from which on the risk can be kept to at all: (1 - most)^n ≤ 1 - confidence. */
export function casesNeeded({ most, confidence }: Risk): number {
  return Math.ceil(Math.log(1 - confidence) / Math.log(1 - most) - 1e-9);
}

function thresholdOf(category: Category, own: readonly LabelledAnswer[], map: CategoryMap, risk: Risk): CategoryThreshold {
  const levels = levelsOf(own, map);
  const none = { category, cases: own.length, needed: casesNeeded(risk) };
  const found = lowestLevel(levels, risk);
  if (found === null) return { ...none, threshold: null, published: 0, wrong: 0, upper: null };
  return { ...none, threshold: found.at, published: found.published, wrong: found.wrong, upper: found.upper };
}

/** A threshold that could be chosen, with what would be published from it on. `size`: how many equal cases that is worth. */
interface Level {
  readonly at: number;
  readonly published: number;
  readonly wrong: number;
  readonly size: number;
  readonly share: number;
}

/** From the surest answer downwards; equal answers are published together. */
function levelsOf(own: readonly LabelledAnswer[], map: CategoryMap): Level[] {
  const sure = own.filter(({ stated }) => stated > DOUBTED).map((answer) => ({ answer, at: calibrated(map.points, answer.stated) }));
  sure.sort((left, right) => right.at - left.at);
  const levels: Level[] = [];
  let [published, wrong, weight, squares, wrongWeight] = [0, 0, 0, 0, 0];
  for (const [index, { answer, at }] of sure.entries()) {
    published++;
    weight += weightOf(answer);
    squares += weightOf(answer) ** 2;
    if (!answer.right) {
      wrong++;
      wrongWeight += weightOf(answer);
    }
    // Kish's effective size: what unequally weighted cases are worth.
    if (sure[index + 1]?.at !== at) levels.push({ at, published, wrong, size: weight ** 2 / squares, share: wrongWeight / weight });
  }
  return levels;
}

function lowestLevel(levels: readonly Level[], { most, confidence }: Risk): (Level & { readonly upper: number }) | null {
  const size = levels.at(-1)?.size ?? 0;
  const doublings = Math.floor(Math.log2(Math.max(1, size / casesNeeded({ most, confidence }))));
  const sequences = Math.min(MOST_STARTS, 1 + doublings);
  const surely = 1 - (1 - confidence) / sequences;
  const needed = casesNeeded({ most, confidence: surely });
  let lowest: (Level & { readonly upper: number }) | null = null;
  for (let sequence = 0; sequence < sequences; sequence++) {
    for (const level of levels.filter((one) => one.size >= needed * 2 ** sequence)) {
      const upper = upperShare(level.share * level.size, level.size, surely);
      if (upper > most) break;
      if (lowest === null || level.at < lowest.at) lowest = { ...level, upper };
    }
  }
  // Rounded down in the fourth place, so that the answer it was set by passes it.
  return lowest === null ? null : { ...lowest, at: Math.floor(lowest.at * 1e4) / 1e4 };
}
