import { setTimeout as sleep } from 'node:timers/promises';
import { delayOfRetry, isRetryable, messageOf } from '../../domain/errors.ts';
import { lookRegularly } from '../../lib/time.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { VectorDebt, VectorDebtStore, VectorIndex, VectorNamespace } from '../../ports/vector-index.ts';

interface PayVectorsDeps {
  readonly debts: VectorDebtStore;
  readonly vectorIndex: VectorIndex;
  readonly logger: Logger;
}

interface IndexWorkerDeps extends PayVectorsDeps {
  /** Between two looks at what is owed, in milliseconds. */
  readonly intervalMs: number;
}

/** Longer than an index may take for `BATCH` items, so that nobody else pays meanwhile. */
const LEASE_MS = 120_000;
const BATCH = 50;
/** How long a person waits for what they taught to be found; after that it is paid in the background. Milliseconds. */
const AT_ONCE_MS = 5_000;

/**
 * Pays these debts now, as far as nobody else does. Never throws, and never takes long: what could not be paid stays owed. `true` where
 * nothing of it is owed any more.
 */
export async function payAtOnce(deps: PayVectorsDeps, namespace: VectorNamespace, ids: readonly string[]): Promise<boolean> {
  const paying = deps.debts
    .takeThese(namespace, ids, LEASE_MS)
    .then((debts) => payAll(deps, debts))
    .catch((error: unknown) => {
      deps.logger.warn({ error }, 'what the index is owed could not be read; it stays owed');
      return false;
    });
  return await Promise.race([paying, sleep(AT_ONCE_MS, false, { ref: false })]);
}

/** Pays in the background what the index is owed, for as long as it takes. What is owed stands in the database, so a stop loses nothing. */
export function startIndexWorker(deps: IndexWorkerDeps): { stop(): Promise<void> } {
  return lookRegularly(deps.intervalMs, (stopping) => workOff(deps, stopping));
}

async function workOff(deps: IndexWorkerDeps, stopping: AbortSignal): Promise<void> {
  try {
    while (!stopping.aborted) {
      const debts = await deps.debts.take(BATCH, LEASE_MS);
      if (debts.length === 0) return;
      if (await payAll(deps, debts, stopping)) deps.logger.info({ paid: debts.length }, 'the index has what it was owed');
    }
  } catch (error) {
    if (!stopping.aborted) deps.logger.warn({ error }, 'what the index is owed could not be looked after; it will be tried again');
  }
}

async function payAll(deps: PayVectorsDeps, debts: readonly VectorDebt[], signal?: AbortSignal): Promise<boolean> {
  let paid = true;
  for (const namespace of new Set(debts.map((debt) => debt.namespace))) {
    const here = debts.filter((debt) => debt.namespace === namespace);
    const [entering, leaving] = [here.filter(({ item }) => item !== null), here.filter(({ item }) => item === null)];
    paid = (await paySome(deps, namespace, entering, signal)) && paid;
    paid = (await paySome(deps, namespace, leaving, signal)) && paid;
  }
  return paid;
}

/** What is refused for good may be the fault of one item: then each is paid by itself. */
async function paySome(
  deps: PayVectorsDeps,
  namespace: VectorNamespace,
  debts: readonly VectorDebt[],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (debts.length === 0) return true;
  try {
    const items = debts.flatMap(({ id, item }) => (item === null ? [] : [{ id, ...item }]));
    if (items.length > 0) await deps.vectorIndex.upsert(namespace, items, signal);
    else
      await deps.vectorIndex.remove(
        namespace,
        debts.map(({ id }) => id),
      );
    for (const debt of debts) await deps.debts.settle(debt);
    return true;
  } catch (error) {
    if (debts.length > 1 && !isRetryable(error) && signal?.aborted !== true) {
      const each: boolean[] = [];
      for (const debt of debts) each.push(await paySome(deps, namespace, [debt], signal));
      return each.every(Boolean);
    }
    await giveBack(deps, debts, error, signal);
    return false;
  }
}

/** Nothing is ever given up: what a person taught is found in the end, however long the index is away. */
async function giveBack(deps: PayVectorsDeps, debts: readonly VectorDebt[], error: unknown, signal: AbortSignal | undefined) {
  const stopped = signal?.aborted === true;
  if (!stopped) deps.logger.warn({ ids: debts.map(({ id }) => id), error }, 'the index does not take what it is owed yet; it stays owed');
  for (const debt of debts) {
    await deps.debts.release(debt, stopped ? 'The process stopped.' : messageOf(error), stopped ? 0 : retryDelay(debt.attempts - 1, error));
  }
}

/**
 * How often a build is tried, counted since there was last news of it.
 *
 * - A try that failed with something that may pass (a retryable error) gives its job back and counts as a retry. The n-th
 *   retry waits 2ⁿ seconds, at most five minutes, or longer where the other side said so (Retry-After, at most an hour).
 *   After 19 of them, which is at least an hour, comes the last try: it goes on without what it cannot get.
 * - A try that ends because the process stops is not counted.
 * - A try that never gave its job back, as when the process died, counts as an attempt. After the configured number of them in a
 *   row (`triage.maxCrashes`) in which no step of the graph was finished, the job is set aside so that others proceed: a long run
 *   may outlive many processes, since each goes on from the last finished step, but a failure that takes its process down each
 *   time must not hold up the rest. After the first such try a job runs alone in its process, so that no other is blamed.
 * - A job that is set aside, and what fails for good, is given to a person with a failed analysis. The job itself ends as
 *   `failed` only where that cannot be stored.
 */
export const MAX_RETRIES = 19;

/** How long to leave a job alone that was retried `retries` times before, in milliseconds. */
export function retryDelay(retries: number, error: unknown): number {
  return delayOfRetry(retries, error, { longestMs: 300_000, longestAskedMs: 3_600_000 });
}
