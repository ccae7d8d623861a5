import { isInScope } from '../domain/access.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { Change, ChangeStore } from '../stores/triages.ts';

/** Between two looks into the database, which happen only while somebody follows. */
const LOOK_MS = 1_000;
/** A transaction that took this long to end is still noticed, in milliseconds. */
const LATE_MS = 10_000;
/** The database keeps changes for a minute; of what is older nobody knows. */
const KNOWN_MS = 50_000;

/** What somebody follows. */
export interface Followed {
  /** Patterns of repositories; null: all. */
  readonly repositories: readonly string[] | null;
  /** Only this build; null: all. */
  readonly buildId: string | null;
}

/** Tells pages that something changed. One question a second to the database, however many follow; none where nobody does. */
export interface Changes {
  /** Whether something changed within so many milliseconds; true as well where that is too long ago to be known. */
  since(followed: Followed, milliseconds: number): Promise<boolean>;
  /** Calls `tell` after each look that found something. Returns how to stop. */
  follow(followed: Followed, tell: () => void): () => void;
  /** Aborted when the service stops: whoever follows is to leave. */
  readonly stopping: AbortSignal;
  stop(): void;
}

export function followChanges({ store, logger }: { readonly store: Pick<ChangeStore, 'recent'>; readonly logger: Logger }): Changes {
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
      for (const [followed, tell] of followers) if (hasFailed || fresh.some((change) => concerns(change, followed))) tell();
      known = new Set(recent.map(({ id }) => id));
      hasFailed = false;
    } catch (error) {
      // What happened meanwhile may be gone by the next look.
      hasFailed = true;
      logger.debug({ error }, 'changes for open pages could not be read');
    } finally {
      isLooking = false;
    }
  }

  return {
    since: async (followed, milliseconds) =>
      milliseconds > KNOWN_MS || (await store.recent(milliseconds + LOOK_MS)).some((change) => concerns(change, followed)),
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
  return (followed.buildId === null || followed.buildId === buildId) && isInScope(followed.repositories, repository);
}
