import { z } from 'zod';
import { Category } from './category.ts';
import { TriageError } from './errors.ts';

const Probability = z.number().min(0).max(1);

/**
 * A point of a map: the stated confidence, and the share that was right. The map is linear between the
 * points, and constant before the first and after the last.
 */
const Point = z.tuple([Probability, Probability]);

/**
 * The method that produced the map of a category. `isotonic` and `platt`: fitted to the category's own cases,
 * and shrunk towards the map of all categories if there are few. `pooled`: the map of all categories, because
 * the category has too few cases of its own. `capped`: the stated value, capped at the value that the few
 * cases support.
 */
const CalibrationMethod = z.enum(['isotonic', 'platt', 'pooled', 'capped']);

/** A map of probabilities that never decreases. */
const Points = z
  .array(Point)
  .min(1)
  .max(1000)
  .refine(
    isMonotone,
    'stated values must increase from point to point, and their meanings must not decrease',
  );

const CategoryMap = z.object({
  method: CalibrationMethod,
  cases: z.int().min(0),
  right: z.int().min(0),
  points: Points,
  /**
   * The lowest calibrated probability at which an answer is published. Null means that a person must always
   * decide. If absent, the configured threshold for all categories applies.
   */
  threshold: Probability.nullable().optional(),
});
export type CategoryMap = z.infer<typeof CategoryMap>;

/**
 * The part of a calibration that a run needs. It is kept in the run's state, so that a run ends with the
 * calibration it began with.
 */
export const CalibrationInUse = z.object({
  /** The version, which increases with every stored calibration. */
  version: z.int().min(1),
  /** The analyst whose answers it is for: "rules", or "llm" and the model's name. */
  analyst: z.string().min(1).max(300),
  categories: z.record(Category, CategoryMap),
  /**
   * The hashes of the prompts that wrote and verified the answers that it is fitted to; empty for the rules.
   * Absent in calibrations that were stored before prompts were; these are not used for a model.
   */
  prompts: z.array(z.string().max(100)).max(100).optional(),
});
export type CalibrationInUse = z.infer<typeof CalibrationInUse>;

/** A measured value with its 95 % interval. */
const Measured = z.object({ value: z.number(), low: z.number(), high: z.number() });

/**
 * The scores on the cases to which the calibration was fitted: before calibration, and after a calibration
 * that did not use the case's own project.
 */
const Scores = z.object({ ece: Measured, brier: Measured });

/** The measured reliability of an analyst's answers by category, from cases whose truth is known. */
export const Calibration = CalibrationInUse.extend({
  id: z.string().min(1).max(100),
  createdAt: z.iso.datetime(),
  createdBy: z.string().min(1).max(300),
  /**
   * The risk that its thresholds do not exceed, and the confidence in that. Null if there is no such risk.
   */
  risk: z.object({ most: Probability, confidence: Probability }).nullable(),
  fittedOn: z.object({
    cases: z.int().min(0),
    /** The projects with the most cases, at most 50, and their number in total. Masked. */
    projects: z.array(z.object({ name: z.string(), cases: z.int() })).max(50),
    projectCount: z.int().min(0),
    /** The names of data sets, or "reviewed". Masked. */
    sources: z.array(z.string()).max(100),
    /** The dates of the oldest (`from`) and newest (`to`) dated case; null if no case is dated. */
    from: z.string().nullable(),
    to: z.string().nullable(),
  }),
  before: Scores,
  /** The scores after calibration. Null if all cases are of one project, so that none could be held out. */
  after: Scores.nullable(),
});
export type Calibration = z.infer<typeof Calibration>;

/** The effect of a calibration on one verdict. */
export const CalibratedBy = z.object({
  version: z.int(),
  /** The verified confidence before calibration. */
  raw: Probability,
});
export type CalibratedBy = z.infer<typeof CalibratedBy>;

/**
 * Returns the calibrated value of `stated`, interpolated between the points. The result never falls as
 * `stated` rises.
 */
export function calibrate(points: CategoryMap['points'], stated: number): number {
  const after = points.findIndex(([x]) => x >= stated);
  const [last] = points.slice(-1);
  if (after === -1) return last?.[1] ?? stated;
  const right = points[after];
  const left = points[after - 1];
  if (right === undefined) return stated;
  if (left === undefined) return right[1];
  const share = (stated - left[0]) / (right[0] - left[0]);
  return left[1] + share * (right[1] - left[1]);
}

/**
 * Returns the calibrated confidence of a verdict, rounded to thousandths. Thresholds are fitted on this same
 * number and compared with it.
 */
export function calibrateConfidence(points: CategoryMap['points'], verified: number): number {
  return Math.round(calibrate(points, verified) * 1000) / 1000;
}

/** Returns the name under which calibrations of an analyst are stored. */
export function formatAnalystName(analyst: string, model: string | null): string {
  return analyst === 'llm' && model !== null ? `llm ${model}` : analyst;
}

/**
 * The date suffix that servers append to the name of a requested model: "gpt-4o-mini" is answered by
 * "gpt-4o-mini-2024-07-18".
 */
const DATED = /^-\d{4}-?\d{2}-?\d{2}$/;

/**
 * Returns true if a calibration stored under the name `kept` applies to this analyst: the same model, or a
 * dated version of it.
 */
export function isCalibratedAs(kept: string, analyst: string, model: string | null): boolean {
  const name = formatAnalystName(analyst, model);
  return name === kept || (analyst === 'llm' && name.startsWith(kept) && DATED.test(name.slice(kept.length)));
}

/**
 * Returns true if an answer was written and verified with these prompts. `hashes` are those of the answer's
 * run, by node. Rules have no prompts. A model's answer whose prompts are unknown was given with others.
 */
export function isAnsweredWith(
  prompts: readonly string[],
  analyst: string,
  hashes: Readonly<Record<string, string>>,
): boolean {
  if (analyst !== 'llm') return true;
  const { generate_answer: written, verify: verified } = hashes;
  // If the rules verified in place of the model, there is no hash.
  const isVerified = verified === undefined || prompts.includes(verified);
  return written !== undefined && prompts.includes(written) && isVerified;
}

/** Checks a calibration. Throws `invalid-config`, which names `where` it is and the wrong field. */
export function parseCalibration(value: unknown, where: string): Calibration {
  const parsed = Calibration.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') || '(root)';
  throw new TriageError('invalid-config', `${where} is not a calibration: field ${field}: ${issue?.message}`);
}

/** Creates a map that leaves values up to `most` unchanged, and caps larger ones there. */
export function createCappedMap(cases: number, right: number, most: number): CategoryMap {
  return {
    method: 'capped',
    cases,
    right,
    points: [
      [0, 0],
      [most, most],
    ],
  };
}

function isMonotone(points: readonly (readonly [number, number])[]): boolean {
  return points.every(([x, y], index) => {
    const before = points[index - 1];
    return before === undefined || (x > before[0] && y >= before[1]);
  });
}

/** The stages of the log reader that a measurement can leave out. */
export const ReadStage = z.enum(['sections', 'extractors', 'ranking', 'reducer']);
export type ReadStage = z.infer<typeof ReadStage>;

/**
 * All parts of the system that a measurement can leave out: sources of evidence, rounds of the loop, and
 * stages of the log reader.
 */
export const AblationStage = z.enum([
  'library',
  'knowledge',
  'code-host',
  'history',
  'logs',
  'web',
  'tools',
  'loop',
  'corrections',
  'green',
  ...ReadStage.options,
]);
export type AblationStage = z.infer<typeof AblationStage>;

/**
 * The way in which an answer is reached: the agent's loop, or the fixed sequence that serves as its baseline.
 */
export const Design = z.enum(['loop', 'linear']);
export type Design = z.infer<typeof Design>;
