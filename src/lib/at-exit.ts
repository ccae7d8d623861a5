const pending = new Set<() => unknown>();
let isRegistered = false;

/**
 * Runs `clean` when the process exits before it has finished, such as on a second Ctrl-C or a closed pipe.
 * `clean` must be synchronous and must not throw. The returned function cancels this.
 */
export function cleanAtExit(clean: () => unknown): () => void {
  if (!isRegistered) process.once('exit', runAll);
  isRegistered = true;
  pending.add(clean);
  return () => pending.delete(clean);
}

function runAll(): void {
  for (const clean of pending) clean();
}
