import { findMax } from '../lib/collections.ts';
import type { Extraction } from './extract/extraction.ts';
import type { LogText } from './lines/lines.ts';
import type { Structure } from './sections.ts';

/** The message of a CI system that a whole job passed. */
const JOB_PASSED = new RegExp(
  String.raw`^(?:Finished: SUCCESS|Job succeeded|##\[section\]Finishing: (?:Finalize )?Job|` +
    String.raw`Build step .{0,60}: SUCCESS)\W*$`,
);
/** The messages of runners and build tools that a whole run passed: nothing failed, and something ran. */
const RUN_PASSED: readonly RegExp[] = [
  /^\s{0,12}(?:Tests|Test Suites|Test Files):?\s{1,8}(?!.{0,80}failed)[1-9]\d{0,6} passed/,
  /^={3,200} (?!.{0,160}\b(?:failed|errors?)\b)[^=\n]{0,80}\b[1-9]\d{0,6} passed\b[^=\n]{0,160}=/,
  /^(?!.{0,160}\b(?:failed|errors?)\b)[1-9]\d{0,6} passed\b.{0,120} in [\d.]{1,12}s\b/,
  /^test result: ok\. [1-9]/,
  /^OK \([1-9]\d{0,6} tests?\b|^OK$/,
  /^(?:\[INFO\] )?BUILD SUCCESS(?:FUL)?\b/,
  /^\s{0,8}[1-9]\d{0,6} passing\b/,
  /^[1-9]\d{0,6} (?:examples?|runs|tests), (?:\d{1,7} assertions, )?0 failures\b/,
  /^\W{0,4}pass [1-9]\d{0,6}$/,
  /^All tests (?:successful|passed)\b|^100% tests passed/,
  /^ok\s{1,8}\S{1,300}\s{1,8}(?:[\d.]{1,10}s|\(cached\))/,
];
/** The lines that count failures, if a runner prints passed and failed tests on separate lines. */
const RUN_FAILED =
  /^\s{0,8}(?:[1-9]\d{0,6} failing|\W{0,4}fail [1-9]\d{0,6}$|FAILED \()|^(?:FAIL|FAILED|BUILD FAIL)/;
/** The number of lines at the end that are searched for a message that all passed. */
const TAIL = 60;

/**
 * Tells whether a log is that of a run that passed, even if it contains errors: no step and no test failed,
 * nothing exited with an error, and at the end the CI system or the runner reports after the last error that
 * all passed. A truncated log does not count as passed. If tests passed on a rerun (`hasRetried`), it is
 * enough that nothing else went wrong.
 */
export function hasPassed(
  log: LogText,
  found: Extraction,
  structure: Structure,
  hasRetried: boolean,
): boolean {
  if (found.failingTests.length + structure.failedSections.length + structure.exits.length > 0) return false;
  const errors = [
    ...found.exceptions,
    ...found.messages,
    ...found.diagnostics.filter(({ severity }) => severity === 'error'),
  ];
  const last = findMax(
    errors.map(({ at }) => at?.line ?? 0),
    0,
  );
  let passedCount = 0;
  for (let line = Math.max(1, log.lineCount - TAIL); line <= log.lineCount; line++) {
    const text = log.line(line).trimEnd();
    if (JOB_PASSED.test(text)) return true;
    if (RUN_FAILED.test(text) || text.startsWith('##[error]')) return false;
    if (RUN_PASSED.some((pattern) => pattern.test(text))) passedCount = line;
  }
  return (passedCount > 0 && passedCount >= last) || (hasRetried && last === 0);
}

/** Returns the findings of a run that passed, without anything that indicates a failure. */
export function withoutErrors(found: Extraction): Extraction {
  return { ...found, diagnostics: [], exceptions: [], messages: [] };
}
