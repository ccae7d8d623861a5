import { z } from 'zod';
import { Category } from '../../domain/category.ts';

/** Lines of a log, 1-based and inclusive over `text.split('\n')`. */
export const LineRange = z.tuple([z.int().min(1), z.int().min(1)]);

const Name = z.string().min(1);

/** One log of a build: the name that answers quote it by, and its file, relative to the data set's folder. */
const LabelledLog = z.object({ name: Name, log_path: Name });

/**
 * One failure of a build with its truth. A build has as many as failed in it, each with its own cause or a
 * shared one.
 */
export const LabelledFailure = z.object({
  /**
   * The test's name; null or absent where no test failed: a step, a download, a finding of a linter or
   * compiler.
   */
  test: Name.nullish(),
  suite: z.string().nullish(),
  /** What the log says went wrong here, word for word; of several lines each must stand in an answer. */
  message: Name,
  /** Name of the log that `log_lines` lie in; where it is left out, they may lie in any log of the build. */
  log: Name.nullish(),
  /** The lines that show this failure: one range or several. */
  log_lines: z.union([LineRange.transform((range) => [range]), z.array(LineRange)]).nullish(),
  /** The step it happened in; findings of one step count as one cause. */
  step: Name.nullish(),
  /** Any name; failures of one build with the same name have one cause. */
  cause: Name,
  category: Category,
  /** Categories that are right too. */
  also_ok: z.array(Category).nullish(),
  /** Whether a linter or a compiler found it; where it is left out, the row's `runner` decides. */
  finding: z.boolean().nullish(),
});
export type LabelledFailure = z.infer<typeof LabelledFailure>;

/** Fields of a row that describe a build of several failures. */
export const BUILD_FIELDS = {
  /** The logs of the build's jobs, instead of one `log_path`. */
  logs: z.array(LabelledLog).min(1).max(2_000).nullish(),
  /** A test report of the build, relative to the data set's folder. */
  report_path: Name.nullish(),
  /** True where nothing failed: an answer that names a failure is wrong. */
  green: z.boolean().nullish(),
  failures: z.array(LabelledFailure).max(10_000).nullish(),
  /** Names of tests that failed, were retried and passed: they are no failures. */
  tests_passed_on_retry: z.array(z.string()).nullish(),
  /** The test runner, linter or compiler that made the log. */
  runner: Name.nullish(),
  /** Whether rules were written with the row in sight ("work") or without ("held"). */
  split: Name.nullish(),
} satisfies z.ZodRawShape;
