import type { Diagnostic } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { BORROWED_FORM, BUNDLERS, LINTERS, SOURCE_READERS } from './vocabulary.ts';

/** A sentence, and where it stands. */
interface Said {
  readonly text: string;
  readonly source: string | null;
  readonly line: number | null;
}

/** A shorter message may stand in any sentence by chance. */
const SHORTEST = 6;

/**
 * Whether a compiler, bundler or linter said this: "Expected ) but found ;" is then about our source, and no test's expectation. False
 * for what a failing test says, and for errors that a test framework writes in a compiler's form.
 */
export function isDiagnosed(fact: Said, subject: TriageSubject): boolean {
  if (BORROWED_FORM.test(fact.text)) return false;
  if (!subject.diagnostics.some((entry) => readsSource(entry) && isAbout(entry, fact))) return false;
  return !subject.failingTests.some(({ message }) => message !== null && message !== '' && includesEither(message, fact.text));
}

function readsSource({ tool, severity, column }: Diagnostic): boolean {
  if (severity !== 'error') return false;
  return LINTERS.test(tool) || BUNDLERS.test(tool) || (SOURCE_READERS.test(tool) && column !== null);
}

function isAbout({ message, at }: Diagnostic, fact: Said): boolean {
  if (at !== null && at.source === fact.source && at.line === fact.line) return true;
  return message.length >= SHORTEST && fact.text.includes(message);
}

function includesEither(one: string, other: string): boolean {
  return one.includes(other) || other.includes(one);
}
