import { z } from 'zod';

/** The facts that outputs state about the failures that one answer explains. The texts are raw. */
export const ExplainedFailures = z.object({
  failures: z.int().describe('The number of failures that it explains'),
  /** True if all failures that are known in detail are tests. */
  areTests: z.boolean().describe('True if all of them are failed tests'),
  /** The names of the tests. A name includes the suite if two suites have a test of that name. */
  tests: z.array(z.string()).readonly().describe('The distinct names of the failed tests'),
  unnamed: z.int().describe('The number of failures that are not listed by name'),
  grouped: z
    .string()
    .nullable()
    .describe('The reason why they share one answer, as a sentence. Null for a single failure'),
  logs: z
    .array(z.string())
    .readonly()
    .describe('The logs that contain them. Empty if all failures of the build are in one log'),
  /** True if the output does not have to distinguish failures. */
  isOnly: z.boolean().describe('True if it is the only failure of its build'),
});
export type ExplainedFailures = Readonly<z.infer<typeof ExplainedFailures>>;
