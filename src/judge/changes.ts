import type { TriageSubject } from '../domain/triage.ts';
import { findChangedRange, type LineChange } from '../lib/patch-changes.ts';
import type { Touch } from './evidence-facts.ts';
import { altersCode, hasCode, removesCode } from './line-changes.ts';
import { isTestPath } from './paths.ts';
import { isSameFile } from './places.ts';
import { removesCheckForMissing } from './removed-checks.ts';
import { listWords } from './wording.ts';

/**
 * The number of lines from the named line within which a change counts as a change of it. A fault often shows
 * in the line below.
 */
const NEAR_LINES = 3;
const ENOUGH_WORDS = 3;
const MAX_SAID = 4_000;

/** Lists the changes of a commit at a line, or just above or below it. */
export function listNearChanges({ changes }: Touch, line: number | null): readonly LineChange[] {
  return changes.filter((change) => isWithin(findChangedRange(change), line, NEAR_LINES));
}

/** Checks whether a commit changed the line, or one just above or below it. */
export function isNear({ lines }: Pick<Touch, 'lines'>, line: number | null): boolean {
  return lines.some((range) => isWithin(range, line, NEAR_LINES));
}

/**
 * Checks whether a commit changed code, not only a comment, at the line or just above or below it. A test
 * that was added next to another one does not count.
 */
export function changesCodeNear(touch: Touch, line: number | null): boolean {
  if (touch.changes.length === 0) return isNear(touch, line);
  const near = listNearChanges(touch, line);
  return near.some(altersCode) || (!isTestPath(touch.path) && near.some(({ added }) => added.some(hasCode)));
}

/** Checks whether a commit changed the exact line. */
export function isChangedAt({ lines }: Pick<Touch, 'lines'>, line: number | null): boolean {
  return lines.some((range) => isWithin(range, line, 0));
}

/** Checks whether the log names a line within these lines of a file, or just above or below them. */
export function isFailingNear(
  path: string,
  range: readonly [number, number],
  subject: TriageSubject,
): boolean {
  const { failures, diagnostics } = subject;
  const places = [listOwnFrames(subject), failures.flatMap(({ frames }) => frames), diagnostics].flat();
  return places.some(
    ({ file, line }) => file !== null && isSameFile(file, path) && isWithin(range, line, NEAR_LINES),
  );
}

function isWithin([from, to]: readonly [number, number], line: number | null, margin: number): boolean {
  return line !== null && from - margin <= line && line <= to + margin;
}

/** Returns the words of a failure's names and messages. Changes are compared with them. */
export function collectFailureWords(subject: TriageSubject): ReadonlySet<string> {
  const { failures, failingTests, exceptions, messages } = subject;
  const texts = [
    ...failingTests.flatMap(({ name, message }) => [name, message ?? '']),
    ...failures.map(({ message }) => message),
    ...exceptions.map(({ message }) => message),
    ...listOwnFrames(subject).map((frame) => frame.function ?? ''),
    ...messages.slice(0, ENOUGH_WORDS).map(({ text }) => text),
  ];
  return listWords(texts.join(' ').slice(0, MAX_SAID));
}

/**
 * Returns how many words the changed lines and their context have in common with a failure, 0..1. Three words
 * give 1.
 */
export function shareWords(changes: readonly LineChange[], words: ReadonlySet<string>): number {
  const altering = changes.filter(altersCode);
  const lines = altering.flatMap((lineChange) =>
    [lineChange.removed, lineChange.added, lineChange.before, lineChange.after].flat(),
  );
  const changeWords = listWords(lines.join(' ').slice(0, MAX_SAID));
  return Math.min(1, [...changeWords].filter((word) => words.has(word)).length / ENOUGH_WORDS);
}

/**
 * Rates how likely a commit's changes of a file are the fault, to choose among the commits of that file. From
 * high to low: a removed name that is still used, code removed at the line, a change of the line, a change
 * near it, and altered code elsewhere.
 */
export function rateTouch(
  touch: Touch,
  line: number | null,
  words: ReadonlySet<string>,
  subject: TriageSubject,
): number {
  const near = listNearChanges(touch, line);
  if (touch.stillUsed.length > 0 || explainsFailure(touch, subject)) return 6;
  if (near.some(removesCode)) return 5;
  if (near.some((change) => altersCode(change) && isWithin(findChangedRange(change), line, 0))) return 4.5;
  if (near.some(altersCode)) return 4;
  if (isNear(touch, line)) return 3;
  return (touch.changes.some(altersCode) ? 1 : 0) + shareWords(touch.changes, words);
}

/** A name that the failure's messages quote: the missing key, attribute or method. */
const QUOTED = /["'`‘“](?<name>[A-Za-z_][\w-]{3,60})["'`’”]/g;

/** Lists the names that a commit removed and that the failure's messages quote. */
export function listMissedNames({ changes }: Touch, subject: TriageSubject): string[] {
  const { exceptions, failures, failingTests } = subject;
  const messages = [...exceptions, ...failures, ...failingTests]
    .map(({ message }) => message ?? '')
    .join('\n')
    .slice(0, MAX_SAID);
  const names = [...messages.matchAll(QUOTED)].flatMap(({ groups }) => groups?.name ?? []);
  const count = (lines: readonly string[], name: string) =>
    (lines.join('\n').match(/[\w-]+/g) ?? []).filter((word) => word === name).length;
  const isLost = (name: string) =>
    changes.some((change) => count(change.removed, name) > count(change.added, name));
  return [...new Set(names)].filter(isLost);
}

/**
 * Checks whether a commit removed what the failure misses: a name that its messages quote or the failing line
 * uses, or a check for a missing value if a value is missing.
 */
export function explainsFailure(touch: Touch, subject: TriageSubject): boolean {
  const frames = listOwnFrames(subject);
  const isFailing = (use: Touch['stillUsed'][number]) =>
    frames.some(({ file, line }) => line === use.line && isSameFile(file, use.path));
  const isUsed = touch.stillUsed.some(isFailing);
  if (isUsed || listMissedNames(touch, subject).length > 0) return true;
  return missesValue(subject) && touch.changes.some(removesCheckForMissing);
}

/** Messages about a missing value in common languages. */
const MISSING_VALUE =
  /\b(?:undefined|null|nil|NoneType|NullPointer\w*|is not a function|out of (?:range|bounds)|KeyError|array key)\b/;

function missesValue({ exceptions, failures }: TriageSubject): boolean {
  const thrown = exceptions.map(({ type, message }) => `${type}: ${message}`);
  const messages = [...thrown, ...failures.map(({ message }) => message)];
  return messages.some((text) => MISSING_VALUE.test(text.slice(0, MAX_SAID)));
}

function listOwnFrames({ exceptions }: TriageSubject) {
  return exceptions.flatMap(({ frames }) => frames.filter(({ own }) => own));
}
