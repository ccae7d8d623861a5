import { createHash } from 'node:crypto';
import type { Fingerprint, StackFrame } from '../domain/failure.ts';
import { normaliseIdentity, normaliseMessage } from './normalise.ts';

/** Name of the algorithm; values compare only within one name and version. */
export const FINGERPRINT_ALGORITHM = 'faultline';
/** Raised whenever the same failure would get another value. */
export const FINGERPRINT_VERSION = 2;

/** What identifies a failure. Anything unknown is null or empty. */
export interface FingerprintParts {
  readonly test: string | null;
  readonly exceptionType: string | null;
  readonly frames: readonly StackFrame[];
  readonly message: string | null;
}

/** Lines that any failure can end in, and that therefore say nothing about this one. Matched against the normalised message. */
const GENERIC =
  /^(?:##\[error\])?\W{0,20}(?:(?:process completed with|exited? with|command (?:failed|exited)(?: with)?|the process \S{0,200} failed with|script returned|exit status|exit) ?(?:exit )?(?:code|status)? ?<?-?\w{0,8}>?|build (?:failed|failure)(?: with an exception| in <\w+>)?|failure: build failed with an exception|npm err! ?(?:test failed.{0,40}|code (?:elifecycle|<n>)|errno <n>|a complete log.{0,60})?|error: process completed with exit code <n>|error:? ?|errors?|fail(?:ed|ure|ures)?|tests? failed|there (?:are|were) test failures|make.{0,20}\*\*\*.{0,200}error <n>|failed to execute goal.{0,200}|error: aborting due to.{0,60}|elifecycle.{0,60}|job failed.{0,60}|finished: failure|cleaning up.{0,60}|the command .{0,200} exited with <n>\.?)\W{0,10}$/i;

/** Whether a message is too general to recognise a failure by. */
export function isGenericMessage(message: string): boolean {
  const normal = normaliseMessage(message);
  return normal.replace(/<\w+>|\W/g, '').length < 4 || GENERIC.test(normal);
}

/**
 * The identity of a failure, from its exception type, its deepest own frame (file and function, no line), the failing test and the
 * normalised message. `generic` is true where it rests on a test's name at most: the same test may fail for another cause tomorrow, so
 * such a value must never be recalled.
 */
export function fingerprintOf(parts: FingerprintParts): { readonly fingerprint: Fingerprint; readonly generic: boolean } {
  const message = parts.message === null || isGenericMessage(parts.message) ? null : normaliseIdentity(parts.message);
  // A named test with a message is known by these two: whether and how far a trace was printed differs from machine to machine.
  const traced = parts.test === null || message === null;
  const thrown = traced ? [parts.exceptionType ?? '', frameKey(parts.frames)] : ['', ''];
  const key = [parts.test === null ? '' : normaliseName(parts.test), ...thrown, message ?? ''];
  const value = createHash('sha256').update(key.join('\u0001')).digest('hex').slice(0, 32);
  const generic = message === null && frameKey(parts.frames) === '';
  return { fingerprint: { algorithm: FINGERPRINT_ALGORITHM, version: FINGERPRINT_VERSION, value }, generic };
}

function frameKey(frames: readonly StackFrame[]): string {
  const frame = frames.find(({ own }) => own);
  if (frame === undefined) return '';
  return `${frame.file.split(/[\\/]/).slice(-2).join('/')}:${frame.function ?? ''}`;
}

/** A test's name with its small numbers: `case 3` is not `case 4`, but a port or a time in it says nothing. */
function normaliseName(name: string): string {
  return name
    .replace(/0x[0-9a-f]{4,16}|\b[0-9a-f]{12,64}\b|\d{5,}/gi, '<n>')
    .replace(/\s+/g, ' ')
    .trim();
}
