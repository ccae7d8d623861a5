import type { Stores } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { VectorIndex, VectorNamespace } from '../ports/vector-index.ts';
import { payAtOnce, startIndexWorker } from '../triage/background.ts';
import { createInStep } from './in-step.ts';

const LOOK_MS = 5_000;

export interface IndexSync {
  /** Gives the index what it is owed; `false` where it does not take it yet and it stays owed. Never throws. */
  payVectors(namespace: VectorNamespace, ids: readonly string[]): Promise<boolean>;
  /** Does work of the start that must not hold it up; where a service is away, again in the background until it succeeds. */
  bringInStep(what: string, work: () => Promise<unknown>): Promise<void>;
}

export interface IndexKeeping {
  readonly doors: IndexSync;
  /** Starts paying in the background. */
  start(): void;
  stop(): Promise<void>;
}

/** What keeps an index up to date that may be away for a while. */
export function openIndexKeeping(stores: Pick<Stores, 'vectorDebts'>, vectorIndex: VectorIndex, logger: Logger): IndexKeeping {
  const deps = { debts: stores.vectorDebts, vectorIndex, logger };
  const inStep = createInStep(logger);
  let worker: { stop(): Promise<void> } | undefined;
  return {
    doors: { payVectors: (namespace, ids) => payAtOnce(deps, namespace, ids), bringInStep: inStep.bring },
    start: () => {
      worker = startIndexWorker({ ...deps, intervalMs: LOOK_MS });
    },
    stop: async () => {
      await inStep.stop();
      await worker?.stop();
    },
  };
}
