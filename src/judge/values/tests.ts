import type { FailingTest } from '../../domain/failure.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import type { FailureBlock } from '../failure-block.ts';
import type { Value } from '../sentence.ts';
import { cleanValue } from './clean.ts';

/** Finds the failing test that the deciding line is about. Returns null if there is none. */
export function findMentionedTest(
  trigger: FailureBlock['trigger'],
  { failingTests }: TriageSubject,
): FailingTest | null {
  const namedTest = failingTests.find(
    ({ message }) => message !== null && message !== '' && trigger.text.startsWith(message.slice(0, 60)),
  );
  return (
    namedTest ??
    failingTests.find(({ at }) => at !== null && at.source === trigger.source && at.line === trigger.line) ??
    null
  );
}

/**
 * Finds the failing test that the deciding line is about, or else the first one that the failed step names.
 */
function findTest({ trigger }: FailureBlock, subject: TriageSubject): FailingTest | null {
  const { failures, failingTests } = subject;
  return (
    findMentionedTest(trigger, subject) ??
    failures.find(({ test }) => test !== null)?.test ??
    failingTests[0] ??
    null
  );
}

/** Reads the name of the failing test, in quotes. */
export function readTest(block: FailureBlock, subject: TriageSubject): Value | null {
  const test = findTest(block, subject);
  const name = cleanValue(test?.name ?? '');
  return test === null || name === null || isFileName(test) ? null : readValueAt(`“${name}”`, test, block);
}

/** Reads the value that the test expected. */
export function readExpected(block: FailureBlock, subject: TriageSubject): Value | null {
  const test = findTest(block, subject);
  return readValueAt(test?.actual == null ? null : shorten(test.expected), test, block);
}

/** Reads the value that the test got. */
export function readActual(block: FailureBlock, subject: TriageSubject): Value | null {
  const test = findTest(block, subject);
  return readValueAt(test?.expected == null ? null : shorten(test.actual), test, block);
}

/** Tells whether a test represents a whole file. */
function isFileName({ name }: FailingTest): boolean {
  return /\btest suite failed to run\b|^\S{1,300}\.(?:test|spec)\.[cm]?[jt]sx?$/i.test(name);
}

/** Source code of an expression: "r.exit_code", "len(pears)". */
const EXPRESSION = /^[a-z_]\w{0,60}(?:\.[a-z_]\w{0,60}|[[(])/i;

function shorten(text: string | null): string | null {
  const value = text === null ? null : cleanValue(text);
  if (value === null || value.length > 80) return null;
  return isExpression(text ?? '') ? null : value;
}

/** Checks whether a text is source code of an expression. */
export function isExpression(text: string): boolean {
  return EXPRESSION.test(text.trim()) && !/['"`]/.test(text);
}

/** Reads a value from the line of the test's report that contains it, so that the line can be quoted. */
function readValueAt(text: string | null, test: FailingTest | null, { step }: FailureBlock): Value | null {
  if (text === null || test === null) return null;
  const bare = text.replace(/^“|”$/g, '');
  const from = step.findIndex(
    ({ line, source }) => test.at !== null && source === test.at.source && line >= test.at.line,
  );
  const inStep = from < 0 ? step : step.slice(from, from + 40);
  const matching = inStep.find((shownLine) => shownLine.text.includes(bare));
  const at = matching ?? test.at;
  return { text, source: at?.source ?? null, line: at?.line ?? null, near: 'paragraph' };
}
