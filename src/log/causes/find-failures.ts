import type { Diagnostic, FailingTest, Failure, Section } from '../../domain/failure.ts';
import type { Reading } from '../../domain/reading.ts';
import { hasFindings } from '../extract/extraction.ts';
import { type ReadFailure, readFailureOfTest, readMainFailure } from '../fingerprint/failures.ts';
import { isFollower } from '../followers.ts';
import { joinRanges, overlaps } from '../line-ranges.ts';
import { classifyRole, isWrapper } from '../line-roles.ts';
import type { ReadLog } from '../read-log.ts';
import { composeReading, type OpenedSources, type ReadOptions } from '../read-sources.ts';
import { isWithin, type LineRange } from '../sections/system.ts';
import { isCheck, isPackageManager } from '../tool-kinds.ts';
import { createLogView } from './log-view.ts';
import { listSpansOfTest } from './spans.ts';

/** The maximum number of failing tests that are reported for one build. The first ones are kept. */
const MAX_TESTS = 2_000;
/** The maximum number of failed steps that are reported separately for one log. The first ones are kept. */
const MAX_STEPS = 40;

/**
 * Finds what failed in a build: each failing test, each failed step in which no test failed, and the main
 * error of each failed log that has neither. Returns at least one failure: if nothing is found, one that says
 * so.
 */
export function findFailures(opened: OpenedSources, reading: Reading, options: ReadOptions): ReadFailure[] {
  const explainedTests = reading.failingTests.filter((test) => !isOnlyListed(test));
  const tests = mergeSame(explainedTests.slice(0, MAX_TESTS).map((test) => readFailureOfTest(reading, test)));
  const steps = listFailedLogs(opened, explainedTests).flatMap((read) =>
    findSteps(read, explainedTests, opened, reading, options),
  );
  const ownSteps = steps.filter((step) => !isCancelled(step));
  const decisive = ownSteps.length > 0 || tests.length > 0 ? ownSteps : steps;
  const found = sortToleratedLast([...tests, ...decisive], opened.logs);
  return found.length > 0 ? found : [readMainFailure(reading)];
}

/**
 * Tells whether a test file is only listed as failed, without an error of its own. The cause is in the output
 * above the list.
 */
function isOnlyListed(test: FailingTest): boolean {
  return (
    test.name === test.file &&
    test.message === null &&
    listSpansOfTest(test).every(({ lineStart, lineEnd }) => lineStart === lineEnd)
  );
}

/**
 * Marks the failures of steps after which the job went on as tolerated, and sorts them last. Changes nothing
 * if every failure is tolerated.
 */
function sortToleratedLast(failures: readonly ReadFailure[], logs: readonly ReadLog[]): ReadFailure[] {
  const sections = logs.flatMap(({ structure }) =>
    structure.failedSections.filter(({ tolerated }) => tolerated === true),
  );
  const isTolerated = ({ spans = [] }: ReadFailure) =>
    spans.length > 0 &&
    spans.every(({ source, lineStart }) =>
      sections.some(
        (section) =>
          section.source === source && lineStart >= section.lineStart && lineStart <= section.lineEnd,
      ),
    );
  if (sections.length === 0 || failures.every(isTolerated)) return [...failures];
  const [decisive, tolerated] = [
    failures.filter((failure) => !isTolerated(failure)),
    failures.filter(isTolerated),
  ];
  return [...decisive, ...tolerated.map((readFailure) => ({ ...readFailure, tolerated: true }))];
}

/** Merges equal failures of several jobs into one failure that has the lines of each. */
function mergeSame(failures: readonly ReadFailure[]): ReadFailure[] {
  const once = new Map<string, ReadFailure>();
  for (const failure of failures) {
    const { test, fingerprint } = failure;
    const key = JSON.stringify([test?.suite, test?.name, fingerprint.value]);
    const before = once.get(key);
    if (before === undefined) {
      once.set(key, failure);
      continue;
    }
    const spans = (before.spans ?? []).concat(failure.spans ?? []);
    const logs = [...new Set(listLogs(before).concat(listLogs(failure)))];
    once.set(key, { ...before, spans, ...(logs.length > 1 && { logs }) });
  }
  return [...once.values()];
}

function listLogs({ logs, test }: ReadFailure): readonly string[] {
  return logs ?? (test?.at == null ? [] : [test.at.source]);
}

/** Tells whether a step failed only because the run was cancelled. */
function isCancelled({ message }: Pick<Failure, 'message'>): boolean {
  return /^(?:##\[error\]|Error: )?The (?:operation|job|run) was cancell?ed\W*$/i.test(message);
}

/**
 * Returns the logs of failed jobs: those with a failed test, a failed step, an exit code or a final error.
 * Logs of jobs that failed because another one did are left out. If there are none, returns all logs with
 * findings.
 */
function listFailedLogs({ logs, sources }: OpenedSources, tests: readonly FailingTest[]): readonly ReadLog[] {
  const ofTests = new Set(tests.flatMap((test) => listSpansOfTest(test).map(({ source }) => source)));
  const artifacts = new Set(sources.filter(({ kind }) => kind !== 'log').map(({ name }) => name));
  const hasFailed = (read: ReadLog) =>
    ofTests.has(read.log.name) ||
    read.structure.failedSections.length + read.structure.exits.length > 0 ||
    (!artifacts.has(read.log.name) && endsInError(read));
  const failed = logs.filter((read) => !isFollower(read) && hasFailed(read));
  return failed.length > 0 ? failed : logs.filter(({ found }) => hasFindings(found));
}

/** The maximum number of lines below the last error that a process may print as it ends. */
const MAX_BELOW = 3;
/** The minimum weight of a message that proves a failure. */
const PROVING_WEIGHT = 60;

/**
 * Tells whether a log ends in an error. Logs with marked steps are excluded: the marks show which steps
 * failed.
 */
function endsInError({ log, found, structure, isPassed }: ReadLog): boolean {
  if (isPassed || structure.hasSteps) return false;
  let lastLine = log.lineCount;
  while (lastLine > 1 && log.line(lastLine).trim() === '') lastLine--;
  const errors = found.diagnostics.filter(({ severity }) => severity === 'error');
  const proofs = [
    ...errors,
    ...found.exceptions,
    ...found.messages.filter(({ weight }) => weight >= PROVING_WEIGHT),
  ];
  const lines = new Set(proofs.flatMap(({ at }) => (at === null ? [] : [at.line])));
  const ends = [...lines, ...found.blocks.filter(({ start }) => lines.has(start)).map((block) => block.end)];
  return ends.some((line) => line >= lastLine - MAX_BELOW);
}

/**
 * Finds the failed steps of one log in which no test failed. If tests failed elsewhere in the log, also finds
 * the errors of compilers and linters outside those steps. Otherwise, splits the steps by such tools; a log
 * with fewer than two failed steps counts as one step.
 */
function findSteps(
  read: ReadLog,
  explainedTests: readonly FailingTest[],
  opened: OpenedSources,
  reading: Reading,
  options: ReadOptions,
): ReadFailure[] {
  const { log, structure } = read;
  const tests = joinRanges(
    explainedTests
      .flatMap(listSpansOfTest)
      .filter(({ source }) => source === log.name)
      .map(({ lineStart, lineEnd }) => ({ start: lineStart, end: lineEnd })),
  );
  const failWithin = (ranges: readonly LineRange[]): ReadFailure => {
    const view = createLogView(read, { visible: ranges, foreign: [] });
    const spans = ranges.map(({ start, end }) => ({ source: log.name, lineStart: start, lineEnd: end }));
    return { ...readMainFailure(composeReading({ ...opened, reports: [], logs: [view] }, options)), spans };
  };
  const failed = structure.failedSections.filter(
    ({ consequence, tolerated }) => consequence !== true || tolerated === true,
  );
  const sections = keepInnermost(failed.slice(0, MAX_STEPS));
  const untested = sections.filter(({ lineStart, lineEnd }) => !overlaps(tests, lineStart, lineEnd));
  if (tests.length > 0) {
    const steps = untested.map(({ lineStart, lineEnd }) => [{ start: lineStart, end: lineEnd }]);
    return [...steps, ...findRangesByCheck(read, tests).filter((ranges) => !isInside(ranges, untested))].map(
      failWithin,
    );
  }
  const checks = findRangesByCheck(read, []);
  const steps = untested.length < 2 ? [[{ start: 1, end: log.lineCount }]] : untested.map(listSectionRanges);
  const split = steps.flatMap((step) => {
    const inStep = checks.filter((ranges) => ranges.every(({ start }) => overlaps(step, start, start)));
    return inStep.length > 1 && areApart(inStep) ? inStep : [step];
  });
  if (split.length > 1) return split.map(failWithin);
  const [spans] = steps.map((ranges) =>
    ranges.map(({ start, end }) => ({ source: log.name, lineStart: start, lineEnd: end })),
  );
  const alone =
    opened.logs.length === 1 ? reading : composeReading({ ...opened, reports: [], logs: [read] }, options);
  return [{ ...readMainFailure(alone), spans }];
}

function listSectionRanges({ lineStart, lineEnd }: Section): LineRange[] {
  return [{ start: lineStart, end: lineEnd }];
}

function isInside(ranges: readonly LineRange[], sections: readonly Section[]): boolean {
  return ranges.every(({ start }) =>
    sections.some(({ lineStart, lineEnd }) => start >= lineStart && start <= lineEnd),
  );
}

/** Finds the lines of each compiler's and linter's errors, except errors that a test printed. */
function findRangesByCheck({ log, found }: ReadLog, tests: readonly LineRange[]): LineRange[][] {
  const errors = found.diagnostics.filter(
    (diagnostic) =>
      diagnostic.severity === 'error' &&
      diagnostic.at !== null &&
      !isWithin(tests, diagnostic.at.line) &&
      isOfItsOwn(diagnostic, log.line(diagnostic.at.line)),
  );
  const byTool = Map.groupBy(errors, ({ tool }) => tool);
  const ends = new Map(found.blocks.map(({ start, end }) => [start, end]));
  return [...byTool.values()].map((errorsOfTool) =>
    joinRanges(
      errorsOfTool.flatMap(({ at }) =>
        at === null ? [] : [{ start: at.line, end: ends.get(at.line) ?? at.line }],
      ),
    ),
  );
}

/** A line that ends the build of a package, below the reason. */
const ENDS_BUILD = /\bfailed building wheel for |\bcould not build wheels for /i;

/**
 * Tells whether a diagnostic can stand alone: it names a place, or it is the reason that a package manager
 * gives. That a build inside it failed is no reason.
 */
function isOfItsOwn({ tool, file, line }: Diagnostic, text: string): boolean {
  // Tests print and report files under /tmp and /var, so such a place does not count.
  if (isCheck(tool)) return file !== null && line !== null && !/^\/(?:tmp|var)\//.test(file);
  return (
    isPackageManager(tool) && classifyRole(text) === 'cause' && !isWrapper(text) && !ENDS_BUILD.test(text)
  );
}

/**
 * Tells whether the errors of different tools are in separate stretches. Interleaved errors come from one
 * run.
 */
function areApart(tools: readonly (readonly LineRange[])[]): boolean {
  const wholes = tools
    .map((ranges) => ({ start: ranges[0]?.start ?? 0, end: ranges.at(-1)?.end ?? 0 }))
    .sort((left, right) => left.start - right.start);
  return wholes.every(({ start }, at) => start > (wholes[at - 1]?.end ?? 0));
}

/** Removes sections that contain another failed section: a stage fails because one of its steps does. */
function keepInnermost(sections: readonly Section[]): Section[] {
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
