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

/** The parts of a log that read like a failure but are not one. */
export interface LeftOut {
  /** Ascending. */
  readonly ranges: readonly LineRange[];
  readonly passedOnRetry: readonly PassedOnRetry[];
  /** The failing tests that did not pass when run again. */
  readonly failingTests: Extraction['failingTests'];
}

/** Groups of literals, whose lines {@link findLeftOut} needs in this order. */
export const LEFT_OUT_LITERALS: readonly (readonly string[])[] = [
  RETRY_LITERALS,
  TOTALS_LITERALS,
  GRADLE_LITERALS,
  PROBE_LITERALS,
  WHEEL_LITERALS,
  TAP_LITERALS,
];

/**
 * Finds tests that passed when they were run again, with their lines, the lines of feature probes that
 * configuring went on after, of wheels that were built at another try, and what passing tests printed.
 * `reported` are tests of which a report says that they passed.
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

/** Returns the log as if it did not have these lines. Line numbers stay. */
export function withoutLines(log: LogText, ranges: readonly LineRange[]): LogText {
  if (ranges.length === 0) return log;
  const isLeftOut = (line: number) => isWithin(ranges, line);
  return { ...log, line: (line) => (isLeftOut(line) ? '' : log.line(line)), hides: isLeftOut };
}
