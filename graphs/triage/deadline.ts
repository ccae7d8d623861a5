/** A signal that ends by time, whose clock can be stopped. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly stop: () => void;
}

/**
 * Ends after so many milliseconds unless it is stopped before. `AbortSignal.timeout` cannot be stopped: until it strikes it holds
 * everything that listens to it, of a run that took a second all that it knew for as long as it might have taken.
 */
export function startDeadline(milliseconds: number): Deadline {
  const controller = new AbortController();
  // A timer may strike just before the clock has come so far; a budget would then seem to have a millisecond left.
  const timer = setTimeout(
    () => controller.abort(new DOMException('The time limit was reached', 'TimeoutError')),
    milliseconds + 2,
  ).unref();
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
}
