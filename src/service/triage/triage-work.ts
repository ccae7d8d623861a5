import { TRIAGE, type WorkEnd, type WorkItem } from '../../domain/work.ts';
import type { Database, Failpoint } from '../../ports/database.ts';
import type { WorkHandler } from '../../ports/work.ts';
import type { NoticeStore } from '../../stores/notices.ts';
import type { WorkStore } from '../../stores/work.ts';
import type { TriageRun } from './triage-run.ts';

interface TriageWorkDeps {
  readonly database: Pick<Database, 'transaction'>;
  readonly stores: {
    readonly work: Pick<WorkStore, 'holds' | 'finish'>;
    readonly notices: Pick<NoticeStore, 'changed'>;
  };
  readonly leaseMs: number;
  readonly concurrency: number;
  /** Tries that did not end, in a row and without a finished step, after which a person is asked. */
  readonly maxCrashes: number;
  /** Answers one build; may be called again for the same build. */
  readonly triage: (item: WorkItem, run: TriageRun) => Promise<unknown>;
  /** Gives the unanswered failures of a build that cannot be triaged to a person. */
  readonly escalateToReviewer: (buildId: string, error: unknown, run: TriageRun) => Promise<void>;
  /** Runs when a build has its answers, before the item ends: then it runs again after a crash. */
  readonly onAnswered?: (buildId: string) => Promise<void>;
  /** Runs when an attempt has ended, whatever became of it. */
  readonly onEnded?: (buildId: string) => Promise<void>;
  readonly failpoint?: Failpoint;
}

/**
 * The number of times that a triage is retried, counted since the last news of its build.
 *
 * - An execution that failed with a temporary (retryable) error counts as a retry. The n-th retry waits 2ⁿ
 *   seconds, at most five minutes, or longer if the server requested it (Retry-After, at most an hour). After
 *   19 of them, which is at least an hour, comes the last one: it continues without what it cannot get.
 * - An execution that ends because the process stops is not counted.
 * - An execution that never gave back its build, for example because the process died, counts as an attempt.
 *   After the configured number of them in a row (`triage.maxCrashes`) in which no step of the graph was
 *   finished, the build is set aside so that others proceed. A long run may outlive many processes, since
 *   each continues from the last finished step, but a failure that crashes its process each time must not
 *   block the rest.
 * - A build that is set aside, or whose triage fails permanently, is given to a person with a failed
 *   analysis. The work itself ends as `failed` only if that cannot be stored.
 */
const MAX_RETRIES = 19;

/** Creates the handler of failed builds. */
export function createTriageHandler(deps: TriageWorkDeps): WorkHandler {
  const { leaseMs, concurrency, maxCrashes, escalateToReviewer, triage, onAnswered, onEnded, failpoint } =
    deps;
  return {
    topic: TRIAGE,
    leaseMs,
    concurrency,
    limits: { attempts: maxCrashes, retries: MAX_RETRIES },
    longestDelayMs: 300_000,
    longestAskedMs: 3_600_000,
    jitter: false,
    resumable: true,
    handle: async ([item], run) => {
      if (item === undefined) return null;
      failpoint?.('claimed', item.key);
      try {
        await triage(item, run);
        await onAnswered?.(item.key);
        return { outcome: 'done' };
      } finally {
        await onEnded?.(item.key);
      }
    },
    exhausted: async ({ key }, error, run) => await escalateToReviewer(key, error, run),
    finish: async (item, end) => await finishTriage(item, end, deps),
  };
}

/**
 * Ends the work on a build, and in the same transaction requests an update of its notices. Some of them
 * appear only when no work on the build remains, and the last answer was concluded before that.
 */
async function finishTriage(
  item: WorkItem,
  end: WorkEnd,
  { database, stores: { work, notices }, failpoint }: TriageWorkDeps,
): Promise<boolean> {
  const isEnded = await database.transaction(async (sql) => {
    // Locks the build's row before that of its work, as everybody else does.
    if (!(await work.holds(item, sql)) || !(await work.finish(item, end, sql))) return false;
    await notices.changed({ buildId: item.key, delayMs: 0 }, sql);
    return true;
  });
  failpoint?.('finished', item.key);
  return isEnded;
}
