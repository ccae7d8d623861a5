import { type OutboxWorker, startOutbox } from '../service/outbox.ts';
import { passingBuildHandler } from '../service/triage/passing-builds.ts';
import type { TriageBuildDeps } from '../service/triage/triage-reading.ts';
import { startSweeper } from '../service/triage/worker.ts';
import { createJobTurns } from '../stores/triages.ts';
import type { IndexKeeping } from './index-keeping.ts';
import { type OpenedKnowledge, startEmbedding } from './open-knowledge.ts';
import type { Publishing } from './open-publishers.ts';
import type { OpenedRetention } from './open-retention.ts';
import type { App } from './served-app.ts';

const SWEEP_MS = 5_000;
/** What this process adds is processed at once; what others add is found so fast: "looking" is to be read within seconds of the webhook. */
const OUTBOX_MS = 1_000;

export interface BackgroundParts extends Pick<App, 'config' | 'database' | 'stores' | 'logger' | 'jobQueue'> {
  readonly deps: TriageBuildDeps;
  readonly found: OpenedKnowledge;
  readonly publishing: Publishing;
  readonly indexKeeping: IndexKeeping;
  readonly retention: OpenedRetention;
}

/** What goes on beside the triage of builds in every process that works. */
export interface Background {
  start(): void;
  /** Something was added to the outbox; nothing happens where this process does not work. */
  wake(): void;
  /** Of those that bring work: nothing new is begun. */
  stopBringing(): Promise<void>;
  /** Of those that end what triage has begun; after the queue has drained. */
  stopEnding(): Promise<void>;
}

export function openBackground({ publishing, indexKeeping, retention, ...parts }: BackgroundParts): Background {
  const { stores, logger, jobQueue, deps } = parts;
  const isTriageWaiting = async () => (await stores.triages.pending(1)).length > 0;
  const passing = deps.greenBuilds > 0 ? [passingBuildHandler({ ...deps, flagging: deps }, isTriageWaiting)] : [];
  const handlers = [...publishing.handlers, ...indexKeeping.handlers, ...retention.handlers, ...passing];
  let outbox: OutboxWorker | undefined;
  let sweeper: { stop(): void } | undefined;
  let embedding: { stop(): Promise<void> } | undefined;
  return {
    start: () => {
      outbox = startOutbox({ ...deps, outbox: stores.outbox, handlers, intervalMs: OUTBOX_MS });
      const turns = createJobTurns(parts.database);
      sweeper = startSweeper({ jobQueue, turns, questions: stores.questions, logger, intervalMs: SWEEP_MS });
      retention.start();
      embedding = startEmbedding(parts.found, logger);
    },
    wake: () => outbox?.wake(),
    stopBringing: async () => {
      sweeper?.stop();
      await indexKeeping.stop();
      await embedding?.stop();
    },
    stopEnding: async () => {
      await outbox?.stop();
      await retention.stop();
    },
  };
}
