import { z } from 'zod';
import { NewBuild, TestResult } from '../domain/build.ts';

/** What a webhook's event says, in our own shape: what is stored, and what the processor makes a build of. */
export const Intake = z.object({
  build: NewBuild,
  /** What of the build is said to have failed; without it, all of it. */
  part: z.string().optional(),
  /** The event cannot tell which attempt of the run it is of: the newest known one is meant. */
  attemptUnknown: z.boolean().optional(),
  /** It is of a fork's branch: what passes there says nothing of our branch of that name. Absent: not known. */
  fromFork: z.boolean().optional(),
  /** The branch that the repository calls its default, where the event says so. */
  defaultBranch: z.string().nullable().optional(),
  /** The end of the build's log, masked, where the event brings it. */
  log: z.string().nullable().optional(),
  /** Of tests that the event names. */
  testResults: z.array(TestResult).readonly().optional(),
  /** W3C traceparent of the request that brought it, where somebody traces. */
  traceparent: z.string().nullable().optional(),
});
export type Intake = z.infer<typeof Intake>;
