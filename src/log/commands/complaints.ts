import type { Extraction } from '../extract/extraction.ts';
import { classifyRole } from '../line-roles.ts';
import type { LogText } from '../lines/lines.ts';
import type { LineRange } from '../sections/system.ts';

/** Last lines of tools, in addition to the lines that state how a run ended. */
const LAST_WORDS = new RegExp(
  `^(?:${[
    'Ran all ',
    '(?:Errors?|Failures?) (?:while|in|during) ',
    'FAIL(?:\\t|$)',
    'Took \\d',
    'Finished in ',
    'Done in ',
    'Time: ',
    'Node\\.js v\\d',
    '==\\d{1,9}==ABORTING',
    'cc1\\w{0,4}: ',
    '.{0,80}\\breport written to ',
    'A complete log',
    '\\S{1,60}: (?:error|info): .{0,200}exit status',
    '[A-Z]\\w{2,20}: +None$',
    '\\d{1,6} \\w{1,20} (?:passed|failed)',
  ].join('|')})`,
  'i',
);

/** Tells whether a line is one that a tool prints last, and that says only that the tool ended. */
export function isLastWord(text: string): boolean {
  return classifyRole(text) === 'ending' || LAST_WORDS.test(text);
}

/** The minimum weight of a message that says that something failed, whichever tool it is from. */
const INFORMATIVE_WEIGHT = 40;

/**
 * Finds the lines of an output that can be the reason why a command failed, ascending. Lines of summaries are
 * excluded; a test counts only with the first line that names it.
 */
export function findErrors(log: LogText, found: Extraction, { start, end }: LineRange): number[] {
  const errors = found.diagnostics.filter(({ severity }) => severity === 'error');
  const messages = found.messages.filter(({ weight }) => weight >= INFORMATIVE_WEIGHT);
  const errorLines = [...errors, ...found.exceptions, ...messages].flatMap(({ at }) =>
    at === null ? [] : [at.line],
  );
  const tests = found.failingTests.flatMap(({ spans = [], at }) => spans[0]?.lineStart ?? at?.line ?? []);
  const causes = errorLines.filter(
    (line) => classifyRole(log.line(line)) === 'cause' && !LAST_WORDS.test(log.line(line)),
  );
  const lines = new Set([...causes, ...tests].filter((line) => line >= start && line <= end));
  return [...lines].sort((left, right) => left - right);
}

const COMPLAINS = new RegExp(
  `\\b(?:${[
    'errors?',
    'fail(?:ed|ures?|s)?',
    'fatal',
    'undefined',
    'undeclared',
    'unresolved',
    'invalid',
    'illegal',
    'missing',
    'cannot',
    "can't",
    "couldn't",
    'could not',
    'not (?:met|found|allowed|permitted|supported)',
    'no such',
    'unknown',
    'mismatch',
    'duplicate',
    'denied',
    'conflict',
    'refused',
    'unable',
    'exceed(?:ed|s)?',
    'killed',
    'sending signal',
    'unused',
    'avoid',
    'should',
    'must',
    'does not',
  ].join('|')})\\b`,
  'i',
);
/** A line of a shell about a command that a signal ended. */
const CRASHED =
  /^(?:Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point exception|Killed)\b/;

/**
 * Returns the error lines together with the lines that only sound like errors, ascending: a command may have
 * failed for a reason that no reader recognizes.
 */
export function findComplaints(log: LogText, { start, end }: LineRange, errors: readonly number[]): number[] {
  const lines = new Set(errors);
  for (let line = start; line <= end; line++) {
    const text = log.line(line);
    if (
      CRASHED.test(text) ||
      (COMPLAINS.test(text) && classifyRole(text) === 'cause' && !LAST_WORDS.test(text))
    )
      lines.add(line);
  }
  return [...lines].sort((left, right) => left - right);
}
