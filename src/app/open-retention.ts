import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { Database } from '../ports/database.ts';
import type { Logger } from '../ports/telemetry.ts';
import {
  countRepository,
  createRemovalHandlers,
  forgetRepository,
  type RetentionDeps,
  retain,
  startRetentionWorker,
} from '../service/triage/retention.ts';
import { createRetentionStore } from '../stores/retention.ts';
import type { Stores } from '../stores/stores.ts';

/**
 * The time between two searches for interrupted writes in the archive and for expired data, in milliseconds.
 */
const LOOK_MS = 60_000;
/** The time for which a running deletion may delay shutdown, in milliseconds. */
const STOP_MS = 2_000;

interface RetentionParts {
  readonly config: Config;
  readonly database: Database;
  readonly stores: Pick<Stores, 'work' | 'pictures'>;
  readonly masker: Pick<Masker, 'mask'>;
  readonly archive: BuildArchive;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly indexNow: (namespace: 'error_library', ids: readonly string[]) => Promise<boolean>;
  readonly forgetThreads: () => Promise<unknown>;
}

/** Opens deletion: on demand, and in the background for data that is too old. */
export function openRetention({ config, database, stores, indexNow, ...parts }: RetentionParts) {
  const store = createRetentionStore(database, stores.work);
  // The images of a build are deleted with its logs.
  const archive = {
    ...parts.archive,
    remove: async (buildId: string) => {
      await stores.pictures.remove(buildId);
      await parts.archive.remove(buildId);
    },
  };
  const deps: RetentionDeps = {
    ...parts,
    archive,
    ...stores,
    store,
    unindex: (ids) => indexNow('error_library', ids),
  };
  const policy = config.retention;
  let worker: { stop(): Promise<void> } | undefined;
  return {
    client: {
      /** Counts what `forget` would delete of a repository. */
      count: (repository: string, olderThanDays: number) => countRepository(deps, repository, olderThanDays),
      /** Deletes the data of a repository from every store. With 0 days, deletes all of it. */
      forget: (repository: string, olderThanDays: number, signal: AbortSignal) =>
        forgetRepository(deps, repository, olderThanDays, signal),
      retain: (signal: AbortSignal) => retain(deps, policy, signal),
    },
    handlers: createRemovalHandlers(archive),
    /** Starts deleting in the background. */
    start: () => {
      worker = startRetentionWorker({ ...deps, policy, intervalMs: LOOK_MS });
    },
    stop: async () => {
      // An unresponsive store must not delay the shutdown: the remaining deletions stay pending.
      await Promise.race([worker?.stop(), sleep(STOP_MS, undefined, { ref: false })]);
    },
  };
}
