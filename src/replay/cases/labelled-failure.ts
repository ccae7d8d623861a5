import { z } from 'zod';
import { Category } from '../../domain/category.ts';

/** A range of lines of a log, 1-based and inclusive over `text.split('\n')`. */
export const LineRange = z.tuple([z.int().min(1), z.int().min(1)]);

const Name = z.string().min(1);

/**
 * One log of a build: the name by which answers quote it, and its path, relative to the data set's folder.
 */
const LabelledLog = z.object({ name: Name, log_path: Name });

/** One labeled failure of a build. A build may have several, each with its own or a shared cause. */
export const LabelledFailure = z.object({
  /**
   * The name of the test. Null or absent if no test failed, but a step, a download, or the check of a linter
   * or compiler.
   */
  test: Name.nullish(),
  suite: z.string().nullish(),
  /**
   * The text of this failure in the log, verbatim. If it has several lines, each of them must occur in an
   * answer.
   */
  message: Name,
  /** The name of the log that contains `log_lines`. If absent, they may be in any log of the build. */
  log: Name.nullish(),
  /** The lines that show this failure: one range or several. */
  log_lines: z.union([LineRange.transform((range) => [range]), z.array(LineRange)]).nullish(),
  /** The step in which the failure happened. Findings of one step count as one cause. */
  step: Name.nullish(),
  /** The name of the cause, in any form. Failures of one build with the same name have one cause. */
  cause: Name,
  category: Category,
  /** Further categories that are right. */
  also_ok: z.array(Category).nullish(),
  /** True if a linter or a compiler found the failure. If absent, the row's `runner` decides. */
  finding: z.boolean().nullish(),
});
export type LabelledFailure = z.infer<typeof LabelledFailure>;

/** The fields of a row that describe a build with several failures. */
export const BUILD_FIELDS = {
  /** The logs of the build's jobs, in place of `log_path`. */
  logs: z.array(LabelledLog).min(1).max(2_000).nullish(),
  /** A test report of the build, relative to the data set's folder. */
  report_path: Name.nullish(),
  /** True if nothing failed. Then every answer that names a failure is wrong. */
  green: z.boolean().nullish(),
  failures: z.array(LabelledFailure).max(10_000).nullish(),
  /** Names of tests that failed, were retried and passed. They are not failures. */
  tests_passed_on_retry: z.array(z.string()).nullish(),
  /** The test runner, linter or compiler that wrote the log. */
  runner: Name.nullish(),
  /** The split of the row: "work" if rules were written with knowledge of the row, "held" if not. */
  split: Name.nullish(),
} satisfies z.ZodRawShape;
