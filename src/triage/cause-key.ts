import type { Failure } from '../domain/failure.ts';
import type { Reading } from '../domain/reading.ts';
import { endingOf, PLAIN_ENDING } from '../log/recognise/ending.ts';
import { thrownBy } from '../log/recognise/failures.ts';
import { isGenericMessage } from '../log/recognise/fingerprint.ts';
import { normaliseIdentity } from '../log/recognise/normalise.ts';

/** An expectation that does not hold is a cause of its own in each test, however alike two sound. */
const ASSERTION = /Assert|Expectation|ComparisonFailure|TestFail|MultipleFailures/;

/** What the machine refuses, it refuses to every test: the line of the test that happened to ask does not matter. */
const OF_THE_MACHINE =
  /\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EADDRINUSE|ENOSPC|EMFILE|ENOMEM|EROFS)\b|[Cc]onnection refused|No space left on device|Too many open files|Cannot allocate memory|Name or service not known|\bUnknownHostException\b/;

/**
 * Failures of one build with equal keys have one cause: the same deepest exception thrown at the same place, the same refusal of the
 * machine, or the same message at the same own frame. Of failures that only say how they ended, those that ended alike.
 */
export function causeKey(failure: Failure, reading: Reading): string {
  if (failure.generic) return endingKey(failure);
  return deepestKey(failure, reading) ?? messageKey(failure);
}

/** The key of a failure that says no more than how it ended. */
export function endingKey({ test, message }: Pick<Failure, 'test' | 'message'>): string {
  const said = test === null ? message : test.message;
  return `ending\u0001${(said === null ? null : endingOf(said)) ?? PLAIN_ENDING}`;
}

/** Only of a wrapped exception: one without a cause of its own says the same as its test's message. */
function deepestKey({ test }: Failure, reading: Reading): string | null {
  const thrown = test === null ? null : thrownBy(reading, test);
  if (thrown === null || thrown.chain.length < 2 || ASSERTION.test(thrown.type)) return null;
  const [frame] = thrown.frames;
  if (frame === undefined && isGenericMessage(thrown.message)) return null;
  const place = frame === undefined ? '' : `${frame.file}:${frame.function ?? ''}`;
  return `deepest\u0001${thrown.type}\u0001${normaliseIdentity(thrown.message)}\u0001${place}`;
}

function messageKey({ message, frames, test }: Failure): string {
  const said = normaliseIdentity(message);
  if (OF_THE_MACHINE.test(message)) return `machine\u0001${said}`;
  const frame = frames.find(({ own }) => own);
  return `${said}\u0001${frame === undefined ? (test?.file ?? '') : `${frame.file}:${frame.function ?? frame.line ?? ''}`}`;
}
