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
  /**
   * The maximum number of consecutive crashed attempts without a finished step. After that, a person is
   * asked.
   */
  readonly maxCrashes: number;
  /** Answers one build. May be called again for the same build. */
  readonly triage: (item: WorkItem, run: TriageRun) => Promise<unknown>;
  /** Gives the unanswered failures of a build that cannot be triaged to a person. */
  readonly escalateToReviewer: (buildId: string, error: unknown, run: TriageRun) => Promise<void>;
  /** Runs when a build has its answers, before its work ends, so that it runs again after a crash. */
  readonly onAnswered?: (buildId: string) => Promise<void>;
  /** Runs when an attempt has ended, successfully or not. */
  readonly onEnded?: (buildId: string) => Promise<void>;
  readonly failpoint?: Failpoint;
}

/**
 * The maximum number of retries of a triage since the last new failure of its build.
 *
 * - An attempt that failed with a retryable error counts. The n-th retry waits 2ⁿ seconds, at most five
 * minutes, or longer if the server requested it (Retry-After, at most an hour). The last one, after at least
 * an hour, continues without the data that it cannot get.
 *
 * - An attempt that was interrupted because the process stops does not count.
 *
 * - An attempt that never released its build, for example because the process crashed, counts as a crash.
 * After `triage.maxCrashes` consecutive crashes without a finished step of the graph, the build is given up,
 * so that others proceed. A long run may continue through many processes, each after the last finished step.
 *
 * - A build that is given up, or whose triage fails permanently, is given to a person with a failed analysis.
 * The work ends as `failed` only if that cannot be stored.
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
 * Ends the work on a build and, in the same transaction, requests an update of its notices, because some of
 * them appear only when no work on the build remains.
 */
async function finishTriage(
  item: WorkItem,
  end: WorkEnd,
  { database, stores: { work, notices }, failpoint }: TriageWorkDeps,
): Promise<boolean> {
  const isEnded = await database.transaction(async (sql) => {
    // The build's row is locked before that of its work, as everywhere else.
    if (!(await work.holds(item, sql)) || !(await work.finish(item, end, sql))) return false;
    await notices.changed({ buildId: item.key, delayMs: 0 }, sql);
    return true;
  });
  failpoint?.('finished', item.key);
  return isEnded;
}
