import { setTimeout as delay } from 'node:timers/promises';
import { TriageError } from '../../domain/errors.ts';

/** Serialization failure and deadlock: the server has rolled everything back, so doing it again is always safe. */
const ROLLED_BACK = /^40(001|P01)$/;

/** What only reads; `for update` locks, but outside a transaction not for longer than the statement. */
const READS = /^\s*select\b/i;

const TRIES = 3;

/** Runs `work` again, up to twice and after a moment, where the server rolled it back to let another go on. */
export async function againWhereRolledBack<Result>(work: () => Promise<Result>): Promise<Result> {
  return await tryAgain(work, isRolledBack);
}

/** The same for one statement of its own; one that only reads is asked again also where its connection broke. */
export async function askAgain<Result>(text: string, ask: () => Promise<Result>): Promise<Result> {
  const reads = READS.test(text);
  return await tryAgain(ask, (error) => isRolledBack(error) || (reads && isBroken(error)));
}

async function tryAgain<Result>(work: () => Promise<Result>, passes: (error: unknown) => boolean): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= TRIES || !passes(error)) throw error;
      // Two that met once must not meet again.
      await delay(10 * 4 ** attempt * (0.5 + Math.random()));
    }
  }
}

function isRolledBack(error: unknown): boolean {
  return error instanceof TriageError && ROLLED_BACK.test(String(error.details.state));
}

/** A pool without a free connection is left alone: more questions do not empty it. */
function isBroken(error: unknown): boolean {
  return error instanceof TriageError && error.code === 'storage-failed' && error.retryable && error.details.busy !== true;
}
