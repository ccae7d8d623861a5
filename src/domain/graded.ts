import { z } from 'zod';
import { Category } from './category.ts';
import { GradeQuestion, OutcomeGrade } from './outcome.ts';
import { Route } from './publish-bound.ts';

/** The number of answers of one repository and route by the grade of one question. */
export const GradeCount = z.object({
  question: GradeQuestion,
  repository: z.string(),
  /** The route. Null if the answer has none, or one that this release does not know. */
  route: Route.nullable().catch(null),
  grade: OutcomeGrade,
  /** True if a person decided. A person's grade takes precedence over the outcome. */
  byPerson: z.boolean(),
  count: z.int(),
});
export type GradeCount = z.infer<typeof GradeCount>;

/** One graded answer, listed so that a person can check what a number counts. */
export const ListedGrade = z.object({
  analysisId: z.string(),
  buildId: z.string(),
  repository: z.string(),
  title: z.string(),
  category: Category,
  grade: OutcomeGrade,
  because: z.string(),
  greenBuildId: z.string(),
  at: z.iso.datetime(),
});
export type ListedGrade = z.infer<typeof ListedGrade>;

/** A similar failure that was fixed by editing files. No person has confirmed the fix. */
export const FixedFailure = z.object({
  analysisId: z.string(),
  buildId: z.string(),
  pipeline: z.string(),
  number: z.string(),
  at: z.iso.datetime(),
  /** True if it has the same fingerprint. Otherwise it only has the same kind. */
  isSame: z.boolean(),
  files: z.array(z.string()),
  /** The newest commit that fixed it. Null if none is known. */
  commit: z.string().nullable(),
  greenBuildId: z.string(),
});
export type FixedFailure = z.infer<typeof FixedFailure>;
