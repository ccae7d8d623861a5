import { TriageError } from '../domain/errors.ts';
import { readBytes } from '../lib/http-body.ts';

/** Reads a body up to a limit; above it the rest is not read. `what` names it for people. Throws `too-large`. */
export async function readBounded(what: string, body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Buffer> {
  const bytes = await readBytes(body, maxBytes);
  if (bytes === null) throw tooLarge(what, maxBytes);
  return bytes;
}

function tooLarge(what: string, maxBytes: number): TriageError {
  return new TriageError('too-large', `${what} is larger than the limit of ${Math.round(maxBytes / 1024)} kB (FAULTLINE_MAX_LOG_BYTES).`, {
    details: { maxBytes },
  });
}

/**
 * Runs work that must end within `timeoutMs` and when the caller aborts, even where a library waits on its own. Throws
 * `timeout` (retryable) or `cancelled`.
 */
export async function withDeadline<Result>(
  what: string,
  timeoutMs: number,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const signal = AbortSignal.any([caller, deadline.signal]);
  try {
    return await Promise.race([work(signal), aborted(signal)]);
  } catch (error) {
    if (caller.aborted) throw new TriageError('cancelled', `${what} was canceled.`, { retryable: true, cause: error });
    if (deadline.signal.aborted) {
      throw new TriageError('timeout', `${what} took longer than ${Math.round(timeoutMs / 1000)} s.`, { retryable: true, cause: error });
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(new Error('aborted'));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
