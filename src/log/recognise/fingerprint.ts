import { createHash } from 'node:crypto';
import type { Fingerprint, StackFrame } from '../../domain/failure.ts';
import { endingOf, PLAIN_ENDING } from './ending.ts';
import { normaliseIdentity, normaliseMessage } from './normalise.ts';

/** Name of the algorithm; values compare only within one name and version. */
export const FINGERPRINT_ALGORITHM = 'faultline';
/** Raised whenever the same failure would get another value. */
export const FINGERPRINT_VERSION = 3;

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

/** A line by which a runner reports what did not fail, or has only begun; beside a failure it stands by accident. */
const NOT_FAILED = /^(?:[✔✓√] |(?:# )?Subtest: |ok <n>|--- (?:PASS|SKIP)\b|PASS(?:ED)?\b|\[ {0,8}(?:PASS(?:ED)?|SKIP(?:PED)?|OK) {0,8}\])/;

/** Whether a message is too general to recognise a failure by. */
export function isGenericMessage(message: string): boolean {
  const normal = normaliseMessage(message);
  return normal.replace(/<\w+>|\W/g, '').length < 4 || NOT_FAILED.test(normal) || GENERIC.test(normal);
}

/**
 * The identity of a failure, from its exception type, its deepest own frame (file and function, no line), the failing test and the
 * normalised message. A failure that gave neither message nor own frame is identified by its test and by how that ended (time limit,
 * signal, or just badly): enough to see that the same thing happens again, not why. So `generic` is true there: such a value groups
 * and counts, but a person's answer must never be recalled by it. Without a test too there is no identity: see `isUnknown`.
 */
export function fingerprintOf(parts: FingerprintParts): { readonly fingerprint: Fingerprint; readonly generic: boolean } {
  const ending = parts.message === null ? PLAIN_ENDING : endingOf(parts.message);
  const message = parts.message === null || ending !== null || isGenericMessage(parts.message) ? null : normaliseIdentity(parts.message);
  const frame = frameKey(parts.frames);
  const generic = message === null && frame === '';
  const test = parts.test === null ? '' : normaliseName(parts.test);
  return { fingerprint: { algorithm: FINGERPRINT_ALGORITHM, version: FINGERPRINT_VERSION, value: hashOf(keyOf()) }, generic };

  function keyOf(): readonly string[] {
    if (generic) return test === '' && (ending ?? PLAIN_ENDING) === PLAIN_ENDING ? [] : [test, '', '', `(${ending ?? PLAIN_ENDING})`];
    // A named test with a message is known by these two: whether and how far a trace was printed differs from machine to machine.
    return test !== '' && message !== null ? [test, '', '', message] : [test, parts.exceptionType ?? '', frame, message ?? ''];
  }
}

/** Whether a fingerprint stands for no identity at all: two failures that have it have nothing known in common. */
export function isUnknown({ value }: Pick<Fingerprint, 'value'>): boolean {
  return value === '' || value === NOTHING;
}

function hashOf(key: readonly string[]): string {
  return createHash('sha256').update(key.join('\u0001')).digest('hex').slice(0, 32);
}

/** The value of a failure of which neither test, message nor own frame is known. */
const NOTHING = hashOf([]);

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
