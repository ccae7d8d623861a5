/** A signal that also ends by time, and whether it was the time that ended it. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  readonly ranOut: () => boolean;
}

/**
 * Does work under a time limit, in milliseconds, whose clock stops with the work. `AbortSignal.timeout` would run on, and until
 * it ends hold everything that listens to it: of a run that took a second, all that it knew for as long as it might have taken.
 */
export async function withinTime<Value>(limitMs: number, signal: AbortSignal, work: (limit: TimeLimit) => Promise<Value>): Promise<Value> {
  const tooLong = new AbortController();
  const timer = setTimeout(() => tooLong.abort(new DOMException('The time limit was reached', 'TimeoutError')), limitMs).unref();
  try {
    return await work({ signal: AbortSignal.any([signal, tooLong.signal]), ranOut: () => tooLong.signal.aborted });
  } finally {
    clearTimeout(timer);
  }
}
