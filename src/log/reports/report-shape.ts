import type { TestResult } from '../../domain/build.ts';
import type { Diagnostic, FailingTest } from '../../domain/failure.ts';

/** What a test report says, whatever its format. */
export interface TestReport {
  readonly failingTests: readonly FailingTest[];
  /** Every test once, with its last outcome. */
  readonly testResults: readonly TestResult[];
  /** What a checker's report complains about. */
  readonly diagnostics: readonly Diagnostic[];
  /** Honest remarks: what was broken, cut, flaky or unknown. */
  readonly notes: readonly string[];
}
