import { setTimeout as sleep } from 'node:timers/promises';
import { TriageError } from '../domain/errors.ts';
import type { OutboxHandler } from '../domain/outbox.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { VectorNamespace } from '../ports/vector-index.ts';
import { type IndexOutboxDeps, indexHandlers, indexNow } from '../service/outbox.ts';

export interface IndexSync {
  /** Writes these entries to the index now; `false` where that is done later. Never throws. */
  indexNow(namespace: VectorNamespace, ids: readonly string[]): Promise<boolean>;
  /** Does work of the start that must not hold it up; where a service is away, again in the background until it succeeds. */
  bringInStep(what: string, work: () => Promise<unknown>): Promise<void>;
}

export interface IndexKeeping {
  readonly sync: IndexSync;
  readonly handlers: readonly OutboxHandler[];
  stop(): Promise<void>;
}

/** What keeps an index up to date that may be away for a while. */
export function openIndexKeeping(deps: IndexOutboxDeps): IndexKeeping {
  const inStep = createInStep(deps.logger);
  return {
    sync: { indexNow: (namespace, ids) => indexNow(deps, namespace, ids), bringInStep: inStep.bring },
    handlers: indexHandlers(deps.vectorIndex),
    stop: inStep.stop,
  };
}

/** What a service that is away, refuses us or is not set up yet is known by. */
const AWAY: readonly TriageError['code'][] = ['upstream-failed', 'upstream-auth', 'timeout', 'rate-limited', 'quota-exhausted'];
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 300_000;

interface InStep {
  /** Does the work now. Where a service is away it is done again in the background until it succeeds; other errors are thrown. */
  bring(what: string, work: () => Promise<unknown>): Promise<void>;
  stop(): Promise<void>;
}

/** Work of the start that must not hold the start up: whatever else is missing, builds are accepted and triaged. */
export function createInStep(logger: Logger, firstPauseMs = FIRST_PAUSE_MS): InStep {
  const ending = new AbortController();
  const running = new Set<Promise<void>>();

  async function again(what: string, work: () => Promise<unknown>): Promise<void> {
    for (let pause = firstPauseMs; !ending.signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      await sleep(pause, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      if (ending.signal.aborted) return;
      try {
        await work();
        return logger.info({ what }, 'in sync with the index again');
      } catch (error) {
        logger.warn({ what, error }, 'still out of sync with the index; will retry');
      }
    }
  }

  return {
    async bring(what, work) {
      try {
        await work();
      } catch (error) {
        if (!isAway(error)) throw error;
        logger.warn({ what, error }, 'started without the index; it is updated in the background');
        const trying = again(what, work).finally(() => running.delete(trying));
        running.add(trying);
      }
    },
    async stop() {
      ending.abort();
      await Promise.all(running);
    },
  };
}

function isAway(error: unknown): boolean {
  return error instanceof TriageError && (AWAY.includes(error.code) || error.details.backend !== undefined);
}
