import { CATEGORIES, type Category } from '../../../src/domain/category.ts';
import type { Facts } from '../../../src/judge/facts.ts';
import {
  BUCKETS,
  chooseCategory,
  computeSigns,
  FACTS,
  type Features,
  type JudgmentModel,
  SIGNS,
  weigh,
} from '../../../src/judge/judgement.ts';
import type { Match } from '../../../src/judge/rule.ts';
import { findMax } from '../../../src/lib/collections.ts';
import { splitIntoFolds } from '../../../src/replay/cases/case.ts';

/** A labeled failure as a training example. */
export interface Lesson {
  readonly project: string;
  readonly category: Category;
  readonly accepted: readonly Category[];
  /** Its weights for the category and for the certainty. */
  readonly weight: number;
  readonly surenessWeight: number;
  readonly facts: Facts;
  readonly matches: readonly Match[];
  readonly features: Features;
  /** Tells whether an answer with this category, or an accepted one, would also show the cause. */
  readonly showsCause: (category: Category) => boolean;
}

/**
 * The number of passes, the learning rate, and the L2 penalties on facts and on words. They were set by hand
 * and compared with two other weightings of the sets.
 */
const [EPOCHS, RATE, ON_FACTS, ON_WORDS] = [150, 0.3, 1e-3, 2e-3];
/** The weight of an accepted alternative relative to the label. */
const ALTERNATIVE = 0.4;
/**
 * The number of folds for the certainty. It is learned from judgments of models that did not see the project.
 */
const INNER_FOLDS = 5;

/**
 * The initial weights of facts. A matching rule or tie supports its own category, and INFRA_ERROR is unlikely
 * without a rule. Training pulls weights towards these. Those of ties and of INFRA_ERROR stay as they are,
 * because the taxonomy decides them.
 */
const [RULE_MET, TIE_MET, NO_INFRA] = [2, 4, -3];

type CategoryModel = Pick<JudgmentModel, 'facts' | 'wordScale' | 'words'>;

/**
 * Fits the judgment model. The certainty is learned from models' judgments of projects that they had not
 * seen.
 */
export function fitJudgment(lessons: readonly Lesson[]): JudgmentModel {
  const held = splitIntoFolds(lessons, ({ project }) => project, INNER_FOLDS).flatMap((fold) => {
    const inFold = new Set(fold);
    const model = fitCategories(lessons.filter((lesson) => !inFold.has(lesson)));
    return fold.map((lesson) => ({ lesson, told: weigh(lesson.features, model) }));
  });
  const rows = held.map(({ lesson, told }) => {
    const { category } = chooseCategory(told, lesson.matches);
    const isRight = lesson.accepted.includes(category) && lesson.showsCause(category);
    return {
      signs: computeSigns(lesson.facts, lesson.matches, told),
      right: Number(isRight),
      weight: lesson.surenessWeight,
    };
  });
  return { ...fitCategories(lessons), sureness: fitSureness(rows) };
}

/**
 * Fits a multinomial logistic regression by AdaGrad in a fixed order, so that the same examples always give
 * the same bytes.
 */
function fitCategories(lessons: readonly Lesson[]): CategoryModel {
  const width = FACTS.length + BUCKETS;
  const rows = lessons.map(toRow);
  const priors = CATEGORIES.map((category) =>
    Float64Array.from({ length: width }, (_, i) => computePrior(FACTS[i] ?? '', category)),
  );
  const weights = priors.map((prior) => Float64Array.from(prior));
  const squares = CATEGORIES.map(() => new Float64Array(width).fill(1e-2));
  const stride = computeStride(rows.length);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const rate = RATE / (1 + epoch / 50);
    for (let step = 0; step < rows.length; step++) {
      const row = rows[(step * stride) % rows.length];
      if (row === undefined) continue;
      const shares = computeSoftmax(weights.map((own) => weighRow(row, own)));
      for (let c = 0; c < weights.length; c++) {
        const slope = ((shares[c] ?? 0) - (row.wanted[c] ?? 0)) * row.weight;
        follow(row, slope, rate, { own: weights[c], prior: priors[c], squares: squares[c] });
      }
    }
  }
  return roundWeights(weights);
}

/**
 * A training example as the indexes and values of its features. Loops over them take most of the training
 * time.
 */
interface Row {
  readonly places: Int32Array;
  readonly values: Float64Array;
  readonly wanted: readonly number[];
  readonly weight: number;
}

function toRow(lesson: Lesson): Row {
  const cells = [
    ...lesson.features.facts.flatMap((value, i) => (value === 0 ? [] : [[i, value] as const])),
    ...lesson.features.words.map(([bucket, weight]) => [FACTS.length + bucket, weight] as const),
  ];
  return {
    places: Int32Array.from(cells, ([place]) => place),
    values: Float64Array.from(cells, ([, value]) => value),
    wanted: createWanted(lesson),
    weight: lesson.weight,
  };
}

function weighRow({ places, values }: Row, own: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < places.length; k++) sum += (values[k] ?? 0) * (own[places[k] ?? 0] ?? 0);
  return sum;
}

const DECIDED = FACTS.map(isDecided);
const NONE = new Float64Array();

/** Updates the weights of one category by the gradient of one row. */
function follow(
  { places, values }: Row,
  slope: number,
  rate: number,
  {
    own = NONE,
    prior = NONE,
    squares = NONE,
  }: Readonly<Record<'own' | 'prior' | 'squares', Float64Array | undefined>>,
): void {
  for (let k = 0; k < places.length; k++) {
    const i = places[k] ?? 0;
    if (DECIDED[i] === true) continue;
    const penalty = (i < FACTS.length ? ON_FACTS : ON_WORDS) * ((own[i] ?? 0) - (prior[i] ?? 0));
    const gradient = slope * (values[k] ?? 0) + penalty;
    squares[i] = (squares[i] ?? 0) + gradient * gradient;
    own[i] = (own[i] ?? 0) - (rate * gradient) / Math.sqrt(squares[i] ?? 1);
  }
}

function isDecided(fact: string | undefined): boolean {
  return fact?.startsWith('tie ') === true || fact === 'no rule for INFRA_ERROR';
}

function computePrior(fact: string, category: Category): number {
  if (fact === `tie ${category}`) return TIE_MET;
  if (fact === 'no rule for INFRA_ERROR') return category === 'INFRA_ERROR' ? NO_INFRA : 0;
  return fact === `structured ${category}` || fact === `line ${category}` ? RULE_MET : 0;
}

function roundWeights(weights: readonly Float64Array[]): CategoryModel {
  const words = weights.map((own) => own.subarray(FACTS.length));
  const most = findMax(
    words.map((own) => own.reduce((top, value) => Math.max(top, Math.abs(value)), 0)),
    1e-9,
  );
  const wordScale = Number((most / 127).toPrecision(6));
  return {
    facts: weights.map((own) =>
      Array.from(own.subarray(0, FACTS.length), (value) => Math.round(value * 1e4) / 1e4),
    ),
    wordScale,
    words: words.map((own) => Int8Array.from(own, (value) => Math.round(value / wordScale))),
  };
}

function createWanted({ category, accepted }: Lesson): number[] {
  const shares = CATEGORIES.map((other) =>
    other === category ? 1 : accepted.includes(other) ? ALTERNATIVE : 0,
  );
  const total = shares.reduce((sum: number, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

function computeSoftmax(sums: readonly number[]): number[] {
  const most = findMax(sums);
  const shares = sums.map((sum) => Math.exp(sum - most));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

/** Returns a step with which every row is visited once, far from its neighbors. */
function computeStride(count: number): number {
  let stride = 7_919;
  while (count > 1 && computeGcd(stride, count) > 1) stride++;
  return stride;
}

function computeGcd(left: number, right: number): number {
  return right === 0 ? left : computeGcd(right, left % right);
}

interface SurenessRow {
  readonly signs: readonly number[];
  readonly right: number;
  readonly weight: number;
}

/** Fits a logistic regression on the signs, with all rows at once. */
function fitSureness(rows: readonly SurenessRow[]): number[] {
  const weights = new Float64Array(SIGNS.length);
  const squares = new Float64Array(SIGNS.length).fill(1e-6);
  const total = rows.reduce((sum, { weight }) => sum + weight, 0);
  for (let epoch = 0; epoch < 300; epoch++) {
    const slopes = new Float64Array(SIGNS.length);
    for (const { signs, right, weight } of rows) {
      const sum = signs.reduce((all, sign, i) => all + sign * (weights[i] ?? 0), 0);
      const off = (1 / (1 + Math.exp(-sum)) - right) * weight;
      for (const [i, sign] of signs.entries()) slopes[i] = (slopes[i] ?? 0) + off * sign;
    }
    for (const [i, slope] of slopes.entries()) {
      const gradient = slope / total + (i === 0 ? 0 : 0.002 * (weights[i] ?? 0));
      squares[i] = (squares[i] ?? 0) + gradient * gradient;
      weights[i] = (weights[i] ?? 0) - (0.3 * gradient) / Math.sqrt(squares[i] ?? 1);
    }
  }
  return Array.from(weights, (weight) => Math.round(weight * 1e4) / 1e4);
}
