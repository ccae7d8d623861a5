import type { PassedOnRetry } from '../domain/reading.ts';
import type { Extraction } from './extract/extraction.ts';
import { joinRanges } from './line-ranges.ts';
import type { LogText } from './lines/lines.ts';
import { PROBE_LITERALS, readProbes } from './probes.ts';
import { findPassedInGradle, GRADLE_LITERALS } from './retries/gradle-tries.ts';
import { readRepeatedWheels, WHEEL_LITERALS } from './retries/package-builds.ts';
import { listRangesOfTest, readRetries } from './retries/retried-tests.ts';
import { RETRY_LITERALS } from './retries/retry-marks.ts';
import { readSuiteRuns, TOTALS_LITERALS } from './retries/suite-runs.ts';
import { readCommentsOfPassing, TAP_LITERALS } from './retries/tap-comments.ts';
import { isWithin, type LineRange } from './sections/system.ts';
import type { Structure } from './sections.ts';

/** The lines and tests of a log that look like a failure but are not one. */
export interface LeftOut {
  /** The ranges of lines, ascending. */
  readonly ranges: readonly LineRange[];
  readonly passedOnRetry: readonly PassedOnRetry[];
  /** The failing tests that did not pass on a rerun. */
  readonly failingTests: Extraction['failingTests'];
}

/** The literals that {@link findLeftOut} needs, in groups, in this order. */
export const LEFT_OUT_LITERALS: readonly (readonly string[])[] = [
  RETRY_LITERALS,
  TOTALS_LITERALS,
  GRADLE_LITERALS,
  PROBE_LITERALS,
  WHEEL_LITERALS,
  TAP_LITERALS,
];

/**
 * Finds the lines that must not count as a failure: tests that passed on a rerun, feature probes of a
 * configure step that went on, wheels that were built on another try, and output of passing tests. `reported`
 * are tests that a report lists as passed on a rerun.
 */
export function findLeftOut(
  log: LogText,
  hits: readonly (readonly number[])[],
  { failingTests }: Pick<Extraction, 'failingTests'>,
  structure: Structure,
  reported: readonly PassedOnRetry[],
): LeftOut {
  const [ofRetries = [], ofTotals = [], ofGradle = [], ofProbes = [], ofWheels = [], ofTap = []] = hits;
  const retries = readRetries(log, ofRetries, failingTests, reported);
  const isGreen = structure.hasSteps && structure.failedSections.length + structure.exits.length === 0;
  const suites = readSuiteRuns(log, ofTotals, retries.failing, isGreen);
  const passed = [...suites.passed, ...findPassedInGradle(log, ofGradle, retries.failing)];
  const over = new Set(passed);
  const ranges = [
    ...retries.ranges,
    ...suites.ranges,
    ...passed.flatMap((test) => listRangesOfTest(test, log.name)),
    ...readProbes(log, ofProbes),
    ...readRepeatedWheels(log, ofWheels),
    ...readCommentsOfPassing(log, ofTap),
  ];
  return {
    ranges: joinRanges(ranges),
    passedOnRetry: [...retries.passed, ...passed.map(({ name, suite, at }) => ({ name, suite, at }))],
    failingTests: retries.failing.filter((test) => !over.has(test)),
  };
}

/** Returns a view of the log in which these lines are empty. Line numbers do not change. */
export function withoutLines(log: LogText, ranges: readonly LineRange[]): LogText {
  if (ranges.length === 0) return log;
  const isLeftOut = (line: number) => isWithin(ranges, line);
  return { ...log, line: (line) => (isLeftOut(line) ? '' : log.line(line)), hides: isLeftOut };
}
