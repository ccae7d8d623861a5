import type { JobQueue, JobTurns, Turn } from '../ports/job-queue.ts';
import type { Logger } from '../ports/telemetry.ts';

/** How old a look at what waits may be, in milliseconds: two looks a second, however many jobs there are. */
const FRESH_MS = 500;
/** Jobs seen at one look: one of each repository after another, so that this many repositories are seen. */
const SEEN = 100;

export interface FairQueueDeps {
  readonly turns: Pick<JobTurns, 'next' | 'place'>;
  readonly logger: Logger;
}

/**
 * The same queue, in which a repository with much in work gives way. A ring is for work, not for one job: where another
 * repository has a job waiting and less in work, or as much but was not served last, its job is taken at this ring, and the
 * one that rang is rung for anew. An urgent job gives way to urgent ones only. Nobody's place stays empty: a repository
 * that is alone may use them all.
 */
export function fairQueue(queue: JobQueue, { turns, logger }: FairQueueDeps): JobQueue {
  const choose = createChooser(turns);
  return {
    ...queue,
    work: (handler, options) =>
      queue.work(async (jobId, signal) => {
        const other = await choose(jobId).catch((error: unknown) => {
          logger.debug({ jobId, error }, 'whose turn it is could not be asked');
          return null;
        });
        if (other === null) return await handler(jobId, signal);
        await queue.enqueue(jobId, { priority: other.isUrgent ? 'high' : 'normal' });
        return await handler(other.instead, signal);
      }, options),
  };
}

interface Choice {
  readonly instead: string;
  /** Whether the job that gives way is. */
  readonly isUrgent: boolean;
}

/** Answers which job to take instead of the one that rang, or null where it is its turn. */
function createChooser(turns: FairQueueDeps['turns']): (jobId: string) => Promise<Choice | null> {
  let seen: { readonly at: number; readonly waiting: Map<string, Turn>; readonly working: Map<string, number> } | null = null;
  let last: string | null = null;

  const look = async () => {
    const now = performance.now();
    if (seen !== null && now - seen.at < FRESH_MS) return seen;
    const owed = await turns.next(SEEN);
    const waiting = new Map(owed.map((turn) => [turn.id, turn]));
    seen = { at: now, waiting, working: new Map(owed.map(({ repository, working }) => [repository, working])) };
    return seen;
  };

  return async (jobId) => {
    const { waiting, working } = await look();
    // Where one repository is all that waits there is nobody to give way to, and nothing more to ask.
    if (working.size < 2) return null;
    const here = waiting.get(jobId) ?? (await turns.place(jobId));
    if (here === null) return null;
    const inWork = (repository: string) => working.get(repository) ?? 0;
    const limit = inWork(here.repository) + (last === here.repository ? 1 : 0);
    const other = [...waiting.values()]
      .filter((turn) => turn.repository !== here.repository && inWork(turn.repository) < limit && (turn.urgent || !here.urgent))
      .toSorted((left, right) => inWork(left.repository) - inWork(right.repository))[0];
    const taken = other ?? here;
    // It is taken now, and not a second time at this look.
    waiting.delete(other?.id ?? jobId);
    working.set(taken.repository, inWork(taken.repository) + 1);
    last = taken.repository;
    return other === undefined ? null : { instead: other.id, isUrgent: here.urgent };
  };
}
