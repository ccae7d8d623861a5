import { type Calibration, type CategoryMap, calibrateConfidence } from '../../domain/calibration.ts';
import { CATEGORIES, Category, mapCategories } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import { FALSE_RIGHT, WRONG_STANDS_FOR } from '../../domain/outcome.ts';
import type { Risk } from '../../lib/binomial-bound.ts';
import { bootstrapWeights } from '../../lib/statistics.ts';
import type { DecidedAnswer } from '../../stores/measurements.ts';
import { resolveProject, splitIntoFolds } from '../cases/case.ts';
import { BINS, computeCalibrationError as errorOfWeighted, getBin } from '../figures/calibration.ts';
import { isRight, listJudgedCases } from '../figures/figure.ts';
import type { ReplayedCase } from '../run/replay.ts';
import {
  computeEffectiveSize,
  type FitMethod,
  fitCategories,
  getWeight,
  type LabelledAnswer,
  type Statement,
} from './fit.ts';
import { type CategoryThreshold, findThresholds } from './threshold.ts';

export interface CalibrateOptions {
  readonly method: FitMethod;
  /** The highest allowed risk, for which thresholds are computed as well; null if none. */
  readonly risk: Risk | null;
  /** The threshold of `human_review`; the default if absent. */
  readonly doubted?: number;
  readonly analyst: string;
  /** The hashes of the prompts of the answers; empty for the rules. */
  readonly prompts: readonly string[];
  readonly createdBy: string;
  readonly now: number;
  readonly id: string;
  readonly version: number;
  /** The names of data sets, or "reviewed". */
  readonly sources: readonly string[];
  readonly mask: (text: string) => string;
}

/** The fit of one category, or of all categories. */
export interface FitRow {
  readonly category: Category | 'all';
  readonly method: CategoryMap['method'] | null;
  readonly cases: number;
  /**
   * The effective sample size: the number of equally weighted cases that carry as much information. It is
   * lower than the number of cases if their weights differ.
   */
  readonly worth: number;
  readonly right: number;
  readonly eceBefore: number;
  /**
   * The error of calibrations that were fitted without the case's project; null if cases of only one project
   * exist.
   */
  readonly eceAfter: number | null;
}

export interface FittedCalibration {
  readonly calibration: Calibration;
  readonly rows: readonly FitRow[];
  readonly thresholds: readonly CategoryThreshold[];
  /**
   * The answers with the confidence from a calibration that was fitted without their project; null if there
   * is only one project.
   */
  readonly held: readonly LabelledAnswer[] | null;
}

/** The number of parts for cross-validation. The cases of a project are in one part. */
const FOLDS = 5;
const NAMED_PROJECTS = 50;

/** Fits a calibration to answers whose truth is known. Throws `invalid-input` if there is none. */
export function fitCalibration(
  answers: readonly LabelledAnswer[],
  options: CalibrateOptions,
): FittedCalibration {
  if (answers.length === 0)
    throw new TriageError(
      'invalid-input',
      'No answer has a known correct category, so there is nothing to calibrate with.',
    );
  const maps = fitCategories(answers, options.method);
  const heldOutAnswers = predictHeldOut(answers, options.method);
  const thresholds =
    options.risk === null ? [] : findThresholds(answers, maps, options.risk, options.doubted);
  const calibration: Calibration = {
    id: options.id,
    version: options.version,
    analyst: options.analyst,
    prompts: [...options.prompts],
    categories: mapCategories((category) => withThreshold(maps[category], category, thresholds)),
    createdAt: new Date(options.now).toISOString(),
    createdBy: options.createdBy,
    risk: options.risk,
    fittedOn: describeFitted(answers, options),
    before: computeScores(answers),
    after: heldOutAnswers === null ? null : computeScores(heldOutAnswers),
  };
  return { calibration, rows: createRows(answers, maps, heldOutAnswers), thresholds, held: heldOutAnswers };
}

/**
 * Returns each answer with the confidence from maps that were fitted on other projects only. Returns null if
 * there is only one project.
 */
function predictHeldOut(answers: readonly LabelledAnswer[], method: FitMethod): LabelledAnswer[] | null {
  const folds = splitIntoFolds(answers, ({ project }) => project, FOLDS);
  if (folds.length < 2) return null;
  return folds.flatMap((fold) => {
    const maps = fitCategories(folds.filter((other) => other !== fold).flat(), method);
    return fold.map((answer) => ({
      ...answer,
      stated: calibrateConfidence(maps[answer.category].points, answer.stated),
    }));
  });
}

function withThreshold(
  map: CategoryMap,
  category: Category,
  thresholds: readonly CategoryThreshold[],
): CategoryMap {
  const found = thresholds.find((threshold) => threshold.category === category);
  return found === undefined ? map : { ...map, threshold: found.threshold };
}

function createRows(
  answers: readonly LabelledAnswer[],
  maps: Readonly<Record<Category, CategoryMap>>,
  heldOutAnswers: readonly LabelledAnswer[] | null,
): FitRow[] {
  return (['all', ...CATEGORIES] as const).map((category) => {
    const isOwn = (answer: LabelledAnswer) => category === 'all' || answer.category === category;
    const kept = answers.filter(isOwn);
    return {
      category,
      method: category === 'all' ? null : maps[category].method,
      cases: kept.length,
      worth: computeEffectiveSize(kept),
      right: kept.filter(({ right }) => right).length,
      eceBefore: computeCalibrationError(kept),
      eceAfter: heldOutAnswers === null ? null : computeCalibrationError(heldOutAnswers.filter(isOwn)),
    };
  });
}

function computeScores(answers: readonly LabelledAnswer[]): { ece: Measured; brier: Measured } {
  return {
    ece: withInterval(answers, computeCalibrationError),
    brier: withInterval(answers, computeBrierScore),
  };
}

function describeFitted(
  answers: readonly LabelledAnswer[],
  { sources, mask }: CalibrateOptions,
): Calibration['fittedOn'] {
  const projects = [...Map.groupBy(answers, ({ project }) => project)].map(([name, members]) => ({
    name: mask(name),
    cases: members.length,
  }));
  projects.sort((left, right) => right.cases - left.cases || (left.name < right.name ? -1 : 1));
  const dates = answers.flatMap(({ at }) => at ?? []).sort();
  return {
    cases: answers.length,
    projects: projects.slice(0, NAMED_PROJECTS),
    projectCount: projects.length,
    sources: sources.slice(0, 100).map(mask),
    from: dates[0] ?? null,
    to: dates.at(-1) ?? null,
  };
}

export interface Measured {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the bins of stated probability, of ten equal ones, that are not empty: the number of cases, their
 * mean stated probability, and the share that was right.
 */
export function computeReliability(statements: readonly Statement[]) {
  return Array.from({ length: BINS }, (_, bin) => bin).flatMap((bin) => {
    const inside = statements.filter(({ stated }) => getBin(stated) === bin);
    if (inside.length === 0) return [];
    const weight = inside.reduce((sum, statement) => sum + getWeight(statement), 0);
    const stated =
      inside.reduce((sum, statement) => sum + getWeight(statement) * statement.stated, 0) / weight;
    const right =
      inside.reduce((sum, statement) => sum + (statement.right ? getWeight(statement) : 0), 0) / weight;
    return [{ from: bin / BINS, to: (bin + 1) / BINS, cases: inside.length, stated, right }];
  });
}

/**
 * Computes the expected calibration error of statements, each of which represents one or several cases.
 * Returns 0 for no statements.
 */
export function computeCalibrationError(statements: readonly Statement[]): number {
  return errorOfWeighted(statements.map((statement) => ({ ...statement, weight: getWeight(statement) })));
}

/**
 * Computes the mean squared difference between the stated probability and the outcome. Returns 0 for no
 * statements.
 */
export function computeBrierScore(statements: readonly Statement[]): number {
  const all = statements.reduce((sum, statement) => sum + getWeight(statement), 0);
  return all === 0
    ? 0
    : statements.reduce(
        (sum, statement) => sum + getWeight(statement) * (statement.stated - Number(statement.right)) ** 2,
        0,
      ) / all;
}

/**
 * Computes a score with its 95% interval by resampling whole projects (percentile bootstrap), because cases
 * of one project resemble each other. The same cases always give the same interval. The calibration error of
 * resampled cases tends to be too high.
 */
export function withInterval<One extends Statement & { readonly project: string }>(
  statements: readonly One[],
  score: (statements: readonly One[]) => number,
): Measured {
  const projects = [...Map.groupBy(statements, ({ project }) => project).values()];
  const [interval] = bootstrapWeights(projects.length, statements.length, (drawn) => [
    score(projects.flatMap((members, at) => Array.from({ length: drawn[at] ?? 0 }, () => members).flat())),
  ]);
  const value = score(statements);
  const [low, high] = interval ?? [value, value];
  return { value, low, high };
}

/** Returns the replayed cases with a labeled category and an answer. Failed cases are left out. */
export function listLabeledCases(cases: readonly ReplayedCase[]): LabelledAnswer[] {
  return listJudgedCases(cases).flatMap((entry) => {
    const { row, result } = entry.one;
    const category = Category.safeParse(result.category);
    // The confidence before any calibration. Otherwise the next calibration would be fitted on top of the
    // last one.
    const stated = result.rawConfidence ?? result.answerConfidence;
    if (row === null || stated === null || !category.success) return [];
    return [
      {
        id: result.id,
        project: resolveProject(row),
        category: category.data,
        stated,
        right: isRight(entry),
        at: row.happened_at ?? null,
      },
    ];
  });
}

/**
 * Lists the answers that people decided and those that later builds graded, with their weights. All answers
 * that wait for a person are decided sooner or later, but only a sample of the published ones is, so each
 * sampled answer has the weight of one sampling interval. Otherwise the calibration would be fitted to
 * uncertain answers only. Grades by later builds are wrong for a small share, so an answer graded right
 * counts as wrong for that share, and an answer graded wrong also represents the wrong answers without a
 * grade.
 */
export function listLabeledDecisions(
  decided: readonly DecidedAnswer[],
  auditEvery: number,
): LabelledAnswer[] {
  return decided.flatMap(({ analysisId, repository, category, stated, right, origin, decidedAt }) => {
    const answer = { id: analysisId, project: repository, category, stated, right, at: decidedAt };
    if (origin === 'audit') return [{ ...answer, weight: Math.max(1, auditEvery) }];
    if (origin !== 'outcome') return [answer];
    if (!right) return [{ ...answer, weight: WRONG_STANDS_FOR }];
    return [
      { ...answer, weight: 1 - FALSE_RIGHT },
      { ...answer, right: false, weight: FALSE_RIGHT },
    ];
  });
}
