import type { ThrownException } from '../../domain/failure.ts';
import { classifyEnding, isGenericMessage, PLAIN_ENDING, type ReadFailure } from '../fingerprint/failures.ts';
import { normalizeIdentity } from '../fingerprint/normalize.ts';

/** Failed assertions. Each test with one is a cause of its own, however similar two of them sound. */
const ASSERTION = /Assert|Expectation|ComparisonFailure|TestFail|MultipleFailures|^\W{0,4}(?:assert|expect)/i;

/**
 * Errors of the machine, such as a full disk. They hit every test alike, so the place of the first test that
 * met one is ignored.
 */
const OF_THE_MACHINE = new RegExp(
  String.raw`\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EADDRINUSE|ENOSPC|EMFILE|ENOMEM|` +
    String.raw`EROFS)\b|[Cc]onnection refused|No space left on device|Too many open files|` +
    String.raw`Cannot allocate memory|Name or service not known|\bUnknownHostException\b`,
);

/** Patterns for a missing thing that breaks everything that needs it; the group names the missing thing. */
const MISSING: readonly RegExp[] = [
  /\b(?:Cannot find (?:module|package)|No module named|Could not resolve|Failed to (?:resolve|load)(?: import)?) ["'`]?(?<what>[\w@./-]{2,200})/,
  /\bcannot import name ["'](?<what>\w{1,100}["'] from ["'][\w.]{1,200})/,
  new RegExp(
    String.raw`\b(?:ENOENT: no such file or directory, \w{1,20} '|No such file or directory: b?'|` +
      String.raw`open )(?<what>[^'\n:]{2,300})(?:'|: no such file or directory)`,
  ),
  /\brelation "(?<what>[\w.]{1,100})" does not exist|\bno such table: (?<table>[\w.]{1,100})/,
  /\bfixture '(?<what>\w{1,100})' not found/,
];

/**
 * Returns the cause of a failure as a key: failures of one build with equal keys have one cause. Failures
 * share a key if they report the same error of the machine, the same missing module, file or table, the same
 * deepest exception thrown at the same place, or the same message at the same frame of the project. Failures
 * that only say how they ended share a key if they ended alike.
 */
export function createCauseKey(failure: ReadFailure, thrown: ThrownException | null): string {
  if (failure.generic) return isExpectation(failure) ? getMessageKey(failure) : createEndingKey(failure);
  return findSharedKey(failure) ?? findDeepestKey(thrown) ?? getMessageKey(failure);
}

/** Returns the key of a failure that says nothing but how it ended. */
export function createEndingKey({ test, message }: Pick<ReadFailure, 'test' | 'message'>): string {
  const text = test === null ? message : test.message;
  return `ending\u0001${(text === null ? null : classifyEnding(text)) ?? PLAIN_ENDING}`;
}

function findSharedKey({ message }: ReadFailure): string | null {
  if (OF_THE_MACHINE.test(message)) return `machine\u0001${normalizeIdentity(message)}`;
  const groups = MISSING.map((pattern) => pattern.exec(message)?.groups).find((match) => match !== undefined);
  const what = groups?.what ?? groups?.table;
  return what === undefined ? null : `missing\u0001${what}`;
}

/**
 * Returns the key of a wrapped exception's deepest cause. Returns null for an exception without a cause,
 * because it adds nothing to its test's message.
 */
function findDeepestKey(thrown: ThrownException | null): string | null {
  if (thrown === null || thrown.chain.length < 2 || ASSERTION.test(thrown.type)) return null;
  const [frame] = thrown.frames;
  if (frame === undefined && isGenericMessage(thrown.message)) return null;
  const place = frame === undefined ? '' : `${frame.file}:${frame.function ?? ''}`;
  return `deepest\u0001${thrown.type}\u0001${normalizeIdentity(thrown.message)}\u0001${place}`;
}

/** Functions without a name of their own. Every test of a file has one, so they do not identify a place. */
const NAMELESS = new RegExp(
  String.raw`<anonymous>|^(?:Object|Context|TestContext|Proxy|Suite)\.|` +
    String.raw`^(?:null|anonymous|func\d{1,4}|<lambda>|<module>)$`,
);

/** Tells whether a test states an expectation that does not hold. */
function isExpectation({ test, message }: ReadFailure): boolean {
  return test !== null && (test.expected !== null || ASSERTION.test(message));
}

function getMessageKey(failure: ReadFailure): string {
  const { message, frames, test } = failure;
  const identity = normalizeIdentity(message);
  const frame = frames.find(({ own }) => own);
  const isCheck = isExpectation(failure);
  if (frame === undefined)
    return isCheck ? `${identity}\u0001${test?.file ?? ''}\u0001${test?.name ?? ''}` : identity;
  const place = frame.function === null || NAMELESS.test(frame.function) ? frame.line : frame.function;
  const isShared = !isCheck && frames.filter(({ own }) => own).length > 1;
  return `${identity}\u0001${frame.file}:${isShared ? (frame.function ?? place ?? '') : (place ?? '')}`;
}
