import type { Excerpt, FailingTest, Failure, Fingerprint, StackFrame, ThrownException } from '../../domain/failure.ts';
import type { Reading } from '../../domain/reading.ts';
import { maxOf } from '../../lib/collections.ts';
import { fingerprintOf } from './fingerprint.ts';

/** A failure before it is stored: it has no id and belongs to no build yet. */
export type ReadFailure = Omit<Failure, 'id' | 'buildId'>;

/** The failures of a build: one for each failing test, or one for the build's main error where no test failed. */
export function failuresOf(reading: Reading): ReadFailure[] {
  const seen = new Set<string>();
  const failures: ReadFailure[] = [];
  for (const test of reading.failingTests) {
    const key = `${test.suite ?? ''}\u0001${test.name}`;
    if (seen.has(key)) continue;
    seen.add(key);
    failures.push(failureOfTest(reading, test));
  }
  return failures.length > 0 ? failures : [mainFailure(reading)];
}

/** Whether anything in the build's logs and reports says that something failed. */
export function showsFailure(reading: Reading): boolean {
  const { failingTests, diagnostics, exceptions, messages, exits, failedSections } = reading;
  if ([failingTests, exceptions, messages, failedSections].some(({ length }) => length > 0)) return true;
  return diagnostics.some(({ severity }) => severity === 'error') || exits.some(({ code }) => code !== 0);
}

/** Groups failures by fingerprint, in the order of their first failure. */
export function groupByCause<F extends { readonly fingerprint: Fingerprint; readonly generic: boolean }>(
  failures: readonly F[],
): { fingerprint: Fingerprint; generic: boolean; failures: F[] }[] {
  const groups = new Map<string, { fingerprint: Fingerprint; generic: boolean; failures: F[] }>();
  for (const failure of failures) {
    const { fingerprint, generic } = failure;
    const key = `${fingerprint.algorithm}/${fingerprint.version}/${fingerprint.value}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { fingerprint, generic, failures: [failure] });
    else group.failures.push(failure);
  }
  return [...groups.values()];
}

/** The exception that a failing test's lines show, with the deepest cause of its chain, or null. */
export function thrownBy(reading: Reading, test: FailingTest): ThrownException | null {
  return exceptionNear(reading, test, excerptAt(reading, test.at?.source, test.at?.line));
}

function failureOfTest(reading: Reading, test: FailingTest): ReadFailure {
  const excerpt = excerptAt(reading, test.at?.source, test.at?.line);
  const thrown = exceptionNear(reading, test, excerpt);
  const frames: readonly StackFrame[] = thrown?.frames ?? [];
  const message = test.message ?? (thrown === null ? `${test.name} failed` : `${thrown.type}: ${thrown.message}`);
  const identity = fingerprintOf({
    test: fullName(test),
    testFile: test.file,
    exceptionType: thrown?.type ?? null,
    frames,
    message: test.message,
  });
  return { test, message, frames: [...frames], excerpt, ...identity };
}

function fullName(test: FailingTest): string {
  return test.suite === null ? test.name : `${test.suite} ${test.name}`;
}

function exceptionNear(reading: Reading, test: FailingTest, excerpt: Excerpt | null): ThrownException | null {
  const near = reading.exceptions.filter(
    ({ at }) => at !== null && test.at !== null && at.source === test.at.source && at.line >= test.at.line,
  );
  const end = excerpt?.lineEnd ?? (test.at?.line ?? 0) + 30;
  return near.find(({ at }) => at !== null && at.line <= end) ?? printedBefore(reading, test);
}

/** With `go test -v` a test's output stands above its verdict, and below that of the test before. */
function printedBefore(reading: Reading, test: FailingTest): ThrownException | null {
  const at = test.at;
  if (test.framework !== 'go' || at === null) return null;
  const others = reading.failingTests.flatMap((other) => (other.at !== null && other.at.line < at.line ? [other.at.line] : []));
  const start = maxOf(others, at.line - 300);
  return (
    reading.exceptions.find((one) => one.at !== null && one.at.source === at.source && one.at.line > start && one.at.line < at.line) ?? null
  );
}

/** What stands for the message of a failure that said nothing. */
export const NO_ERROR = 'No error was found in the log.';

function mainFailure(reading: Reading): ReadFailure {
  const excerpt = reading.excerpts.reduce<Excerpt | null>((best, one) => (best === null || one.weight > best.weight ? one : best), null);
  const { message, type, frames } = mainError(reading);
  const identity = fingerprintOf({ test: null, exceptionType: type, frames, message });
  const headline = isNearTop(reading) ? message : reading.messages[0]?.text;
  return { test: null, message: headline ?? message ?? NO_ERROR, frames: [...frames], excerpt, ...identity };
}

/** Whether the first structured error stands at the line that tells most; else that line is the headline, and the error only the identity. */
function isNearTop({ diagnostics, exceptions, messages }: Reading): boolean {
  const top = messages[0]?.at;
  const structured = (diagnostics.find(({ severity }) => severity === 'error') ?? exceptions[0])?.at;
  if (top == null || structured == null) return true;
  return structured.source === top.source && Math.abs(structured.line - top.line) <= NEAR_TOP;
}

/** An exception's lines, or a diagnostic's source lines and notes. */
const NEAR_TOP = 15;

/** The build's main error: its first diagnostic, else its first exception, else its most telling message. */
function mainError(reading: Pick<Reading, 'diagnostics' | 'exceptions' | 'messages'>): {
  readonly message: string | null;
  readonly type: string | null;
  readonly frames: readonly StackFrame[];
} {
  const diagnostic = reading.diagnostics.find(({ severity }) => severity === 'error');
  if (diagnostic !== undefined) {
    const file = diagnostic.file?.split(/[\\/]/).at(-1);
    return { message: `${file === undefined ? '' : `${file}: `}${diagnostic.message}`, type: diagnostic.code, frames: [] };
  }
  const thrown = reading.exceptions[0];
  if (thrown !== undefined) return { message: `${thrown.type}: ${thrown.message}`, type: thrown.type, frames: thrown.frames };
  return { message: reading.messages[0]?.text ?? null, type: null, frames: [] };
}

function excerptAt(reading: Reading, source: string | undefined, line: number | undefined): Excerpt | null {
  if (source === undefined || line === undefined) return null;
  return reading.excerpts.find((excerpt) => excerpt.source === source && excerpt.lineStart <= line && line <= excerpt.lineEnd) ?? null;
}
