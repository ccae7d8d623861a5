/**
 * Does `work` now and every `intervalMs` milliseconds, never beside itself. `stop` tells it to end and waits until it has. `work` must not
 * throw.
 */
export function lookRegularly(intervalMs: number, work: (stopping: AbortSignal) => Promise<void>): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  const look = () => {
    running ??= work(stopping.signal).finally(() => {
      running = null;
    });
  };
  const timer = setInterval(look, intervalMs);
  timer.unref();
  look();
  return {
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
