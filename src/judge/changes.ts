import type { TriageSubject } from '../domain/triage.ts';
import { findChangedRange, type LineChange } from '../lib/patch-changes.ts';
import type { Touch } from './evidence-facts.ts';
import { isTestPath } from './paths.ts';
import { isSameFile } from './places.ts';
import { wordsIn } from './wording.ts';

/** A change this near to the named line counts as a change of it: a fault often shows in the line below. */
const NEAR_LINES = 3;
/** A line that only explains code, or has none. */
const NO_CODE_LINE = /^\s*(?:(?:\/\/|#|\*|\/\*|--|;|"""|'''|<!--).*|[{}()[\];,]*|end)\s*$/;
const MAX_LINE = 500;
const ENOUGH_WORDS = 3;
const MAX_SAID = 4_000;

/** Checks whether a line has code, and not only a comment or brackets. */
export function hasCode(line: string): boolean {
  return !NO_CODE_LINE.test(line.slice(0, MAX_LINE));
}

/** Checks whether a change takes code away or replaces it. What only adds lines rarely breaks what worked. */
export function altersCode({ removed, added }: LineChange): boolean {
  const kept = new Set(added.map((line) => line.trim()));
  return removed.some((line) => hasCode(line) && !kept.has(line.trim()));
}

/** Checks whether a change takes more lines of code away than it puts in their place. */
function removesCode({ removed, added }: LineChange): boolean {
  return removed.filter(hasCode).length > added.filter(hasCode).length;
}

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
 * that was added beside another is no change of that one.
 */
export function changesCodeNear(touch: Touch, line: number | null): boolean {
  if (touch.changes.length === 0) return isNear(touch, line);
  const near = listNearChanges(touch, line);
  return near.some(altersCode) || (!isTestPath(touch.path) && near.some(({ added }) => added.some(hasCode)));
}

/** Checks whether a commit changed the very line. */
export function isChangedAt({ lines }: Pick<Touch, 'lines'>, line: number | null): boolean {
  return lines.some((range) => isWithin(range, line, 0));
}

function isWithin([from, to]: readonly [number, number], line: number | null, margin: number): boolean {
  return line !== null && from - margin <= line && line <= to + margin;
}

/** Returns the words of a failure's own names and messages, by which changes are compared with it. */
export function collectFailureWords({ failures, failingTests, exceptions, messages }: TriageSubject): ReadonlySet<string> {
  const said = [
    ...failingTests.flatMap(({ name, message }) => [name, message ?? '']),
    ...failures.map(({ message }) => message),
    ...exceptions.flatMap(({ message, frames }) => [message, ...frames.filter(({ own }) => own).map(({ function: name }) => name ?? '')]),
    ...messages.slice(0, ENOUGH_WORDS).map(({ text }) => text),
  ];
  return wordsIn(said.join(' ').slice(0, MAX_SAID));
}

/** Returns how many words the changed lines and those around them share with a failure, 0..1; 1 for three or more. */
export function shareWords(changes: readonly LineChange[], words: ReadonlySet<string>): number {
  const lines = changes.filter(altersCode).flatMap(({ removed, added, before, after }) => [removed, added, before, after].flat());
  const own = wordsIn(lines.join(' ').slice(0, MAX_SAID));
  return Math.min(1, [...own].filter((word) => words.has(word)).length / ENOUGH_WORDS);
}

/**
 * Returns how likely a commit's changes of a file are the fault, for the choice among commits of that file. A
 * name that others still use comes first, then code removed at the line, the line itself, what is near it, and
 * code altered elsewhere.
 */
export function rateTouch(touch: Touch, line: number | null, words: ReadonlySet<string>, subject: TriageSubject): number {
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
export function listMissedNames({ changes }: Touch, { exceptions, failures, failingTests }: TriageSubject): string[] {
  const said = [...exceptions, ...failures, ...failingTests]
    .map(({ message }) => message ?? '')
    .join('\n')
    .slice(0, MAX_SAID);
  const names = [...said.matchAll(QUOTED)].flatMap(({ groups }) => groups?.name ?? []);
  const toWords = (lines: readonly string[]) => new Set(lines.join('\n').match(/[\w-]+/g) ?? []);
  return [...new Set(names)].filter((name) =>
    changes.some(({ removed, added }) => toWords(removed).has(name) && !toWords(added).has(name)),
  );
}

/** Checks whether a commit took away a name that the failure's messages quote, or that the failing line uses. */
export function explainsFailure(touch: Touch, subject: TriageSubject): boolean {
  const frames = subject.exceptions.flatMap((thrown) => thrown.frames.filter(({ own }) => own));
  const isUsed = touch.stillUsed.some(({ path, line }) => frames.some((frame) => frame.line === line && isSameFile(frame.file, path)));
  return isUsed || listMissedNames(touch, subject).length > 0;
}
