import type { FailingTest, Failure, LogRange, Section } from '../../domain/failure.ts';
import type { Reading } from '../../domain/reading.ts';
import { hasFindings } from '../extract/extraction.ts';
import type { ReadLog } from '../read-log.ts';
import { composeReading, type OpenedSources, type ReadOptions } from '../read-sources.ts';
import { failureOfTest, mainFailure, type ReadFailure } from '../recognise/failures.ts';
import { overlaps, viewLog } from './log-view.ts';
import { spansOfTest } from './spans.ts';

/** Failures of one build that are told apart; of more, only the first are. */
const MAX_FAILURES = 2_000;

/**
 * Finds what failed in a build: each failing test, each failed step in which no test failed, and the main error of each failed log that
 * has neither. Never empty: where nothing is found, the one failure says so.
 */
export function findFailures(opened: OpenedSources, reading: Reading, options: ReadOptions): ReadFailure[] {
  const tests = sameOnce(reading.failingTests.slice(0, MAX_FAILURES).map((test) => failureOfTest(reading, test)));
  const steps = failedLogs(opened.logs, reading.failingTests).flatMap((read) => findSteps(read, opened, reading, options));
  const own = steps.filter((step) => !step.generic);
  const told = own.some((step) => !isCancelled(step)) || tests.length > 0 ? own.filter((step) => !isCancelled(step)) : own;
  const found = [...tests, ...told];
  if (found.length > 0) return found;
  return steps.length > 0 ? steps.slice(0, 1) : [mainFailure(reading)];
}

/** Joins what failed alike in several jobs: one failure, with its lines in each. */
function sameOnce(failures: readonly ReadFailure[]): ReadFailure[] {
  const once = new Map<string, ReadFailure>();
  for (const failure of failures) {
    const { test, fingerprint } = failure;
    const key = JSON.stringify([test?.suite, test?.name, fingerprint.value]);
    const before = once.get(key);
    const spans = [...(before?.spans ?? []), ...(failure.spans ?? [])];
    once.set(key, before === undefined ? failure : { ...before, spans });
  }
  return [...once.values()];
}

/** A step that was stopped because another job had failed says nothing of its own. */
function isCancelled({ message }: Pick<Failure, 'message'>): boolean {
  return /^(?:Error: )?The (?:operation|job|run) was cancell?ed\W*$/i.test(message);
}

/** Returns the logs of failed jobs: those that say how they failed; where none does, those in which an error was found. */
function failedLogs(logs: readonly ReadLog[], tests: readonly FailingTest[]): readonly ReadLog[] {
  const ofTests = new Set(tests.flatMap((test) => spansOfTest(test).map(({ source }) => source)));
  const failed = logs.filter(
    ({ log, structure }) => ofTests.has(log.name) || structure.failedSections.length > 0 || structure.exits.length > 0,
  );
  return failed.length > 0 ? failed : logs.filter(({ found }) => hasFindings(found));
}

/** Finds the failed steps of one log in which no test failed. */
function findSteps(read: ReadLog, opened: OpenedSources, reading: Reading, options: ReadOptions): ReadFailure[] {
  const { log, structure } = read;
  const ranges = reading.failingTests
    .flatMap(spansOfTest)
    .filter(({ source }) => source === log.name)
    .map(({ lineStart, lineEnd }) => ({ start: lineStart, end: lineEnd }));
  const sections = innermost(structure.failedSections.filter(({ consequence }) => consequence !== true));
  const untested = sections.filter(({ lineStart, lineEnd }) => !overlaps(ranges, lineStart, lineEnd));
  const steps = ranges.length === 0 && untested.length < 2 ? [null] : untested;
  return steps.map((section) => {
    const span: LogRange = { source: log.name, lineStart: section?.lineStart ?? 1, lineEnd: section?.lineEnd ?? log.lineCount };
    const visible = [{ start: span.lineStart, end: span.lineEnd }];
    const logs = section === null ? [read] : [viewLog(read, { visible, foreign: [] })];
    const alone = section === null && opened.logs.length === 1;
    return { ...mainFailure(alone ? reading : composeReading({ ...opened, reports: [], logs }, options)), spans: [span] };
  });
}

/** Leaves out sections that only hold other failed ones: a stage fails because its step does. */
function innermost(sections: readonly Section[]): Section[] {
  return sections.filter(
    (outer) =>
      !sections.some(
        (inner) =>
          inner !== outer &&
          inner.lineStart >= outer.lineStart &&
          inner.lineEnd <= outer.lineEnd &&
          inner.lineEnd - inner.lineStart < outer.lineEnd - outer.lineStart,
      ),
  );
}
