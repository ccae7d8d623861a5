import { z } from 'zod';

/** The facts that outputs state about the failures that one answer explains. The texts are raw. */
export const ExplainedFailures = z.object({
  failures: z.int().describe('How many failures it explains'),
  /** True if all failures that are known in detail are tests. */
  areTests: z.boolean().describe('Whether all of them are failed tests'),
  /** The names of the tests. A name includes the suite if two suites have a test of that name. */
  tests: z.array(z.string()).readonly().describe('Names of the failed tests, each once'),
  unnamed: z.int().describe('Failures that are only counted'),
  grouped: z
    .string()
    .nullable()
    .describe('Why they share one answer, as a sentence; null for a single failure'),
  logs: z
    .array(z.string())
    .readonly()
    .describe('The logs in which they failed; empty if all failures of the build are in one log'),
  /** True if the output does not have to distinguish failures. */
  isOnly: z.boolean().describe('Whether it is the only failure of its build'),
});
export type ExplainedFailures = Readonly<z.infer<typeof ExplainedFailures>>;
