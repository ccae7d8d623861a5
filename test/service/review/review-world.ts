import type { ReviewDeps } from '../../../src/api/review-routes.ts';
import type { Analysis } from '../../../src/domain/analysis.ts';
import type { Failure } from '../../../src/domain/failure.ts';
import { isInUse, type LibraryEntry } from '../../../src/domain/library.ts';
import type { Decision, Review, ReviewEvent } from '../../../src/domain/review.ts';
import type { WorkRequest } from '../../../src/domain/work.ts';
import { extractTemplates } from '../../../src/log/green/templates.ts';
import type { Masker } from '../../../src/log/mask/mask.ts';
import type { Database } from '../../../src/ports/database.ts';
import { type Logger, silentLogger } from '../../../src/ports/telemetry.ts';
import type { VectorIndex, VectorItem } from '../../../src/ports/vector-index.ts';
import { indexNow } from '../../../src/service/index-work.ts';
import type { DecideDeps } from '../../../src/service/review/decide.ts';
import type { LibraryStore } from '../../../src/stores/library.ts';
import type { ReviewStore } from '../../../src/stores/reviews.ts';
import type { Stores } from '../../../src/stores/stores.ts';

/** Everything that the review needs, in memory; `state` is what the stores hold, and may be changed between acts. */
export interface ReviewWorld {
  readonly deps: DecideDeps & Pick<ReviewDeps, 'claimMs'> & { readonly vectorIndex: VectorIndex };
  readonly state: {
    now: number;
    reviews: Map<string, Review>;
    events: ReviewEvent[];
    undone: { readonly decision: Decision; readonly by: string; readonly at: string }[];
    /** Lines of the one green build, as templates. */
    green: string[];
    library: LibraryEntry[];
    readonly index: Map<string, VectorItem>;
    /** Changes of the index that are not made yet. */
    work: WorkRequest[];
    readonly warnings: string[];
    failLibrary: boolean;
    failIndex: boolean;
  };
}

export const NOW = Date.parse('2026-10-12T15:00:00.000Z');
const SOME_DAY = new Date(NOW).toISOString();
const CLAIM_MS = 900_000;

export function createReviewWorld(given: {
  reviews: Review[];
  analyses: Analysis[];
  failures: Failure[];
}): ReviewWorld {
  const state: ReviewWorld['state'] = {
    now: NOW,
    reviews: new Map(given.reviews.map((review) => [review.id, review])),
    events: [],
    undone: [],
    green: [],
    library: [],
    index: new Map(),
    work: [],
    warnings: [],
    failLibrary: false,
    failIndex: false,
  };
  const work = createMemoryWork(state);
  const stores: Pick<
    Stores,
    'reviews' | 'analyses' | 'failures' | 'library' | 'work' | 'passingBuilds' | 'notices'
  > = {
    passingBuilds: createMemoryPassingBuilds(state),
    notices: fillStore<Stores['notices']>({ changed: async () => false }),
    work,
    reviews: createMemoryReviews(state),
    library: createMemoryLibrary(state),
    analyses: fillStore<Stores['analyses']>({
      find: async (id) => given.analyses.find((analysis) => analysis.id === id) ?? null,
      listByBuild: async (buildId) => given.analyses.filter((analysis) => analysis.buildId === buildId),
    }),
    failures: {
      saveGroups: failIfUsed,
      search: failIfUsed,
      groupsOfBuild: failIfUsed,
      histories: failIfUsed,
      listByBuild: async (buildId) => given.failures.filter((failure) => failure.buildId === buildId),
    },
  };
  const logger: Logger = { ...silentLogger, warn: (_, message) => void state.warnings.push(message) };
  const clock = { now: () => state.now };
  const vectorIndex = createMemoryIndex(state);
  const write: ReviewDeps['indexNow'] = (namespace, ids) =>
    indexNow(
      { work, vectorIndex, masker: { mask: async (text) => ({ text, count: 0 }) }, logger },
      namespace,
      ids,
    );
  return {
    state,
    deps: {
      stores,
      database: createMemoryDatabase(state),
      vectorIndex,
      indexNow: write,
      masker,
      clock,
      logger,
      claimMs: CLAIM_MS,
    },
  };
}

/** Hides the word "hunter2". */
const masker: Pick<Masker, 'mask'> = {
  mask: async (text) => ({
    text: text.replaceAll('hunter2', '***'),
    count: text.split('hunter2').length - 1,
  }),
};

/** A transaction that takes back what it did when it fails. */
function createMemoryDatabase(state: ReviewWorld['state']): Database {
  return {
    driver: 'pglite',
    exclusive: true,
    query: failIfUsed,
    migrate: failIfUsed,
    close: async () => undefined,
    transaction: async (run) => {
      const { events, undone, library, work } = state;
      const before = {
        reviews: new Map(state.reviews),
        events: [...events],
        undone: [...undone],
        library: [...library],
        work: [...work],
      };
      try {
        return await run({ query: failIfUsed });
      } catch (error) {
        Object.assign(state, before);
        throw error;
      }
    },
  };
}

function createMemoryReviews(state: ReviewWorld['state']): ReviewStore {
  const current = (id: string): Review | null => {
    const review = state.reviews.get(id);
    if (review === undefined) return null;
    const expired = review.claimExpiresAt !== null && Date.parse(review.claimExpiresAt) <= state.now;
    return expired ? { ...review, state: 'waiting', claimedBy: null, claimExpiresAt: null } : review;
  };
  const change = (review: Review, event: ReviewEvent['event'], actor: string, changes: Partial<Review>) => {
    const changed = { ...review, ...changes, version: review.version + 1 };
    state.reviews.set(review.id, changed);
    state.events.push({
      reviewId: review.id,
      event,
      actor,
      at: new Date(state.now).toISOString(),
      details: {},
    });
    return changed;
  };
  const free = (review: Review | null, reviewer: string): review is Review =>
    review !== null &&
    (review.state === 'waiting' || (review.state === 'claimed' && review.claimedBy === reviewer));
  const all = () => [...state.reviews.keys()].flatMap((id) => current(id) ?? []);
  return {
    open: failIfUsed,
    findByAnalysis: failIfUsed,
    listGroups: failIfUsed,
    offers: failIfUsed,
    counts: failIfUsed,
    takeOver: failIfUsed,
    next: failIfUsed,
    skip: failIfUsed,
    find: async (id) => current(id),
    listSame: async (id, reviewer) => {
      const base = current(id);
      const same = all().filter(
        (one) => one.repository === base?.repository && one.fingerprint === base.fingerprint,
      );
      return same.filter((one) => one.id !== id && free(one, reviewer));
    },
    list: async (filter, { limit, offset }) =>
      all()
        .filter((review) => filter.state === undefined || review.state === filter.state)
        .filter((review) => filter.category === undefined || review.category === filter.category)
        .filter((review) => filter.repository === undefined || review.repository === filter.repository)
        .slice(offset, offset + limit),
    claim: async (id, reviewer, claimMs) => {
      const review = current(id);
      if (!free(review, reviewer)) return null;
      const claimExpiresAt = new Date(state.now + claimMs).toISOString();
      const claimedAt = new Date(state.now).toISOString();
      return change(review, 'claimed', reviewer, {
        state: 'claimed',
        claimedBy: reviewer,
        claimedAt,
        claimExpiresAt,
      });
    },
    release: async (id, reviewer) => {
      const review = current(id);
      if (review?.claimedBy !== reviewer) return null;
      return change(review, 'released', reviewer, {
        state: 'waiting',
        claimedBy: null,
        claimExpiresAt: null,
      });
    },
    decide: async (id, version, decision: Decision) => {
      const review = current(id);
      if (!free(review, decision.reviewer) || review.version !== version) return null;
      return change(review, 'decided', decision.reviewer, {
        state: 'decided',
        claimedBy: null,
        claimExpiresAt: null,
        decision,
      });
    },
    undo: async ({ id, reviewId }, by) => {
      const review = current(reviewId);
      if (review === null || review.decision?.id !== id) return null;
      state.undone.push({ decision: review.decision, by, at: new Date(state.now).toISOString() });
      return change(review, 'undone', by, { state: 'waiting', decision: null });
    },
    batch: async (batchId) =>
      all().flatMap(({ decision }) => (decision?.batchId === batchId ? [decision] : [])),
    lastDecision: async (reviewer) =>
      all().findLast(({ decision }) => decision?.reviewer === reviewer)?.decision ?? null,
    lastUndone: async (reviewId) =>
      state.undone.findLast(({ decision }) => decision.reviewId === reviewId) ?? null,
    events: async (id) => state.events.filter((event) => event.reviewId === id),
  };
}

function createMemoryLibrary(state: ReviewWorld['state']): LibraryStore {
  const change = (
    id: string,
    isMeant: (entry: LibraryEntry) => boolean,
    changes: Partial<LibraryEntry>,
  ): LibraryEntry | null => {
    const entry = state.library.find((one) => one.id === id && isMeant(one));
    if (entry === undefined) return null;
    const changed = { ...entry, ...changes };
    state.library = state.library.map((one) => (one.id === id ? changed : one));
    return changed;
  };
  const at = () => new Date(state.now).toISOString();
  const newestFirst = () =>
    state.library.toSorted((a, b) => (a.confirmedAt + a.id < b.confirmedAt + b.id ? 1 : -1));
  return {
    insert: async (entry) => {
      if (state.failLibrary) throw new Error('disk full');
      state.library.push(entry);
    },
    find: async (id) => state.library.find((entry) => entry.id === id) ?? null,
    recall: async ({ fingerprint, repository }) =>
      newestFirst().find(
        (entry) =>
          isInUse(entry) && entry.fingerprint.value === fingerprint && entry.repository === repository,
      ) ?? null,
    alone: async () => undefined,
    seen: failIfUsed,
    listIdentifyingLines: failIfUsed,
    flag: failIfUsed,
    offers: failIfUsed,
    ofDecision: async (id) =>
      state.library.filter(({ decisionId, withdrawn }) => decisionId === id && withdrawn === null),
    withdraw: async (id, by, reason) =>
      change(id, ({ withdrawn }) => withdrawn === null, { withdrawn: { by, at: at(), reason } }),
    restore: async (id, by) => change(id, ({ withdrawn }) => withdrawn?.by === by, { withdrawn: null }),
    stay: async (id, by) =>
      change(id, ({ withdrawn, flag }) => withdrawn === null && flag !== null, { stays: { by, at: at() } }),
    list: async ({ limit, offset }, { withdrawn = false } = {}) =>
      newestFirst()
        .filter((entry) => withdrawn || entry.withdrawn === null)
        .slice(offset, offset + limit),
  };
}

function createMemoryPassingBuilds(state: ReviewWorld['state']): Stores['passingBuilds'] {
  const build = { buildId: 'bld_green', number: '811', url: null };
  return {
    saveDefaultBranch: failIfUsed,
    isWanted: failIfUsed,
    keep: failIfUsed,
    choose: failIfUsed,
    newest: async () =>
      state.green.length === 0
        ? []
        : [
            {
              log: 'build.log',
              build,
              templates: extractTemplates(state.green.join('\n')),
              seenAt: '2026-10-01T00:00:00.000Z',
            },
          ],
  };
}

function createMemoryWork(state: ReviewWorld['state']): Stores['work'] {
  const without = (keys: readonly string[]) => state.work.filter(({ key }) => !keys.includes(key));
  return fillStore<Stores['work']>({
    add: async (entries) => {
      state.work = [...without(entries.map(({ key }) => key)), ...entries];
      return entries.length;
    },
    take: async ({ keys }) =>
      state.work
        .filter(({ key }) => keys?.includes(key))
        .map(({ topic, key, payload = {} }) => ({
          topic,
          key,
          payload,
          buildId: null,
          version: 1,
          settled: 0,
          held: true,
          outcome: null,
          result: null,
          error: null,
          lease: 1,
          attempts: 1,
          retries: 0,
          groupKey: null,
          dueAt: SOME_DAY,
          changedAt: SOME_DAY,
        })),
    finish: async ({ key }) => {
      state.work = without([key]);
      return true;
    },
    release: async () => undefined,
  });
}

function createMemoryIndex(state: ReviewWorld['state']): VectorIndex {
  const check = () => {
    if (state.failIndex) throw new Error('index unreachable');
  };
  return {
    driver: 'memory',
    upsert: async (_, items) => {
      check();
      for (const item of items) state.index.set(item.id, item);
    },
    remove: async (_, ids) => {
      check();
      for (const id of ids) state.index.delete(id);
    },
    search: failIfUsed,
    list: async () => [...state.index.values()],
    count: async () => state.index.size,
  };
}

async function failIfUsed(): Promise<never> {
  throw new Error('not needed here');
}

/** A store of which only so much is used here. */
function fillStore<Store extends object>(used: Partial<Store>): Store {
  return Object.assign(Object.create(null), used);
}
