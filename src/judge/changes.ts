import type { TriageSubject } from '../domain/triage.ts';
import { findChangedRange, type LineChange } from '../lib/patch-changes.ts';
import type { Touch } from './evidence-facts.ts';
import { altersCode, hasCode, removesCode } from './line-changes.ts';
import { isTestPath } from './paths.ts';
import { isSameFile } from './places.ts';
import { removesCheckForMissing } from './removed-checks.ts';
import { listWords } from './wording.ts';

/** A change this near to the named line counts as a change of it: a fault often shows in the line below. */
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
 * Checks whether a commit changed code at the line, or just above or below it, and not only a comment. A test
 * that was added next to another is no change of that one.
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

/** Checks whether the log says that the failure went through lines of a file, or just above or below them. */
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

/** Returns the words of a failure's own names and messages, by which changes are compared with it. */
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

/** Returns how much the changed lines and their context share with a failure, 0..1; 1 for three words. */
export function shareWords(changes: readonly LineChange[], words: ReadonlySet<string>): number {
  const altering = changes.filter(altersCode);
  const lines = altering.flatMap((lineChange) =>
    [lineChange.removed, lineChange.added, lineChange.before, lineChange.after].flat(),
  );
  const changeWords = listWords(lines.join(' ').slice(0, MAX_SAID));
  return Math.min(1, [...changeWords].filter((word) => words.has(word)).length / ENOUGH_WORDS);
}

/**
 * Returns how likely a commit's changes of a file are the fault, for the choice among commits of that file. A
 * name that others still use comes first, then code removed at the line, the line itself, what is near it,
 * and code altered elsewhere.
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

/** Names that the failure's messages quote: the key, attribute or method that is missing. */
const QUOTED = /["'`‘“](?<name>[A-Za-z_][\w-]{3,60})["'`’”]/g;

/** Lists the names that a commit took away and that the failure's messages quote. */
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
 * Checks whether a commit took away what the failure misses: a name that its messages quote or the failing
 * line uses, or a check for a missing value if one is missing.
 */
export function explainsFailure(touch: Touch, subject: TriageSubject): boolean {
  const frames = listOwnFrames(subject);
  const isFailing = (use: Touch['stillUsed'][number]) =>
    frames.some(({ file, line }) => line === use.line && isSameFile(file, use.path));
  const isUsed = touch.stillUsed.some(isFailing);
  if (isUsed || listMissedNames(touch, subject).length > 0) return true;
  return missesValue(subject) && touch.changes.some(removesCheckForMissing);
}

/** Messages of the usual languages about a value that is not there. */
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
