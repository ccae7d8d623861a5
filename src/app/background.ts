import { startPassingBuildWorker } from '../service/triage/passing-builds.ts';
import type { TriageBuildDeps } from '../service/triage/triage-build.ts';
import { startSweeper } from '../service/triage/worker.ts';
import { createJobTurns } from '../stores/triages.ts';
import type { IndexKeeping } from './index-keeping.ts';
import { type OpenedKnowledge, startEmbedding } from './open-knowledge.ts';
import type { Publishing } from './open-publishers.ts';
import type { OpenedRetention } from './open-retention.ts';
import type { App } from './served-app.ts';

const SWEEP_MS = 5_000;
/** Green builds are nobody's hurry, but the next failed build is compared with them. */
const GREEN_MS = 2_000;

export interface BackgroundParts extends Pick<App, 'config' | 'database' | 'stores' | 'logger' | 'jobQueue'> {
  readonly deps: TriageBuildDeps;
  readonly found: OpenedKnowledge;
  readonly publishing: Publishing;
  readonly indexKeeping: IndexKeeping;
  readonly retention: OpenedRetention;
}

/** What goes on beside the triage of builds in every process that works: each pays one kind of debt, by itself. */
export interface Background {
  start(): void;
  /** Of those that bring work: nothing new is begun. */
  stopBringing(): Promise<void>;
  /** Of those that end what triage has begun; after the queue has drained. */
  stopEnding(): Promise<void>;
}

export function openBackground({ publishing, indexKeeping, retention, ...parts }: BackgroundParts): Background {
  const { stores, logger, jobQueue, deps } = parts;
  let sweeper: { stop(): void } | undefined;
  let greenKeeper: { stop(): Promise<void> } | undefined;
  let embedding: { stop(): Promise<void> } | undefined;
  return {
    start: () => {
      publishing.start();
      sweeper = startSweeper({
        jobQueue,
        turns: createJobTurns(parts.database),
        questions: stores.questions,
        logger,
        intervalMs: SWEEP_MS,
      });
      indexKeeping.start();
      retention.start();
      embedding = startEmbedding(parts.found, logger);
      if (deps.greenBuilds > 0) greenKeeper = startPassingBuildWorker({ ...deps, flagging: deps, intervalMs: GREEN_MS });
    },
    stopBringing: async () => {
      sweeper?.stop();
      await indexKeeping.stop();
      await embedding?.stop();
      await greenKeeper?.stop();
    },
    stopEnding: async () => {
      await publishing.stop();
      await retention.stop();
    },
  };
}
