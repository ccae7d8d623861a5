import { isInScope } from '../domain/access.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { Change, ChangeStore } from '../stores/triages.ts';

/** The interval of database queries, in milliseconds. They run only while a client follows. */
const LOOK_MS = 1_000;
/** The maximum duration of a transaction, in milliseconds, whose changes are still noticed. */
const LATE_MS = 10_000;
/** The maximum age of known changes, in milliseconds. The database keeps changes for a minute. */
const KNOWN_MS = 50_000;

/** The scope of the changes that a client follows. */
export interface Followed {
  /** Patterns of repositories; all if null. */
  readonly repositories: readonly string[] | null;
  /** The id of the only build to follow; all builds if null. */
  readonly buildId: string | null;
}

/**
 * Notifies pages that something changed. It queries the database once per second for any number of followers,
 * and not at all without followers.
 */
export interface Changes {
  /**
   * Checks whether something changed within this number of milliseconds. Also returns true if that is unknown
   * because it is too long ago.
   */
  since(followed: Followed, milliseconds: number): Promise<boolean>;
  /** Calls `tell` after each query that found a change. Returns a function that stops this. */
  follow(followed: Followed, tell: () => void): () => void;
  /** The signal that is aborted when the service stops; followers must then disconnect. */
  readonly stopping: AbortSignal;
  stop(): void;
}

export function followChanges({
  store,
  logger,
}: {
  readonly store: Pick<ChangeStore, 'recent'>;
  readonly logger: Logger;
}): Changes {
  const followers = new Map<Followed, () => void>();
  const stopping = new AbortController();
  let known: ReadonlySet<number> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;
  let hasFailed = false;

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      const recent = await store.recent(LATE_MS);
      const fresh = recent.filter(({ id }) => known?.has(id) !== true);
      for (const [followed, tell] of followers)
        if (hasFailed || fresh.some((change) => concerns(change, followed))) tell();
      known = new Set(recent.map(({ id }) => id));
      hasFailed = false;
    } catch (error) {
      // Changes during the outage may no longer be in the database at the next query.
      hasFailed = true;
      logger.debug({ error }, 'changes for open pages could not be read');
    } finally {
      isLooking = false;
    }
  }

  return {
    since: async (followed, milliseconds) =>
      milliseconds > KNOWN_MS ||
      (await store.recent(milliseconds + LOOK_MS)).some((change) => concerns(change, followed)),
    follow: (followed, tell) => {
      followers.set(followed, tell);
      timer ??= setInterval(() => void look(), LOOK_MS).unref();
      return () => {
        followers.delete(followed);
        if (followers.size > 0) return;
        clearInterval(timer);
        timer = undefined;
        known = null;
      };
    },
    stopping: stopping.signal,
    stop: () => {
      clearInterval(timer);
      stopping.abort();
    },
  };
}

function concerns({ repository, buildId }: Change, followed: Followed): boolean {
  return (
    (followed.buildId === null || followed.buildId === buildId) &&
    isInScope(followed.repositories, repository)
  );
}
