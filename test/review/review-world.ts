import type { Analysis } from '../../src/domain/analysis.ts';
import type { Failure } from '../../src/domain/failure.ts';
import type { LibraryEntry } from '../../src/domain/library.ts';
import type { Decision, Review, ReviewEvent } from '../../src/domain/review.ts';
import type { Masker } from '../../src/log/mask/mask.ts';
import type { Database } from '../../src/ports/database.ts';
import { type Logger, silentLogger } from '../../src/ports/logger.ts';
import type { LibraryStore, ReviewStore, Stores } from '../../src/ports/stores.ts';
import type { OwedVector, VectorDebtStore } from '../../src/ports/vector-debts.ts';
import type { VectorIndex, VectorItem } from '../../src/ports/vector-index.ts';
import type { ReviewDeps } from '../../src/review/routes.ts';
import { payAtOnce } from '../../src/triage/index-keeper.ts';

/** Everything that the review needs, in memory; `state` is what the stores hold, and may be changed between acts. */
export interface ReviewWorld {
  readonly deps: ReviewDeps & { readonly vectorIndex: VectorIndex };
  readonly state: {
    now: number;
    reviews: Map<string, Review>;
    events: ReviewEvent[];
    library: LibraryEntry[];
    readonly index: Map<string, VectorItem>;
    /** What the index is owed. */
    debts: OwedVector[];
    readonly warnings: string[];
    failLibrary: boolean;
    failIndex: boolean;
  };
}

export const NOW = Date.parse('2026-10-12T15:00:00.000Z');
const CLAIM_MS = 900_000;

export function createReviewWorld(given: { reviews: Review[]; analyses: Analysis[]; failures: Failure[] }): ReviewWorld {
  const state: ReviewWorld['state'] = {
    now: NOW,
    reviews: new Map(given.reviews.map((review) => [review.id, review])),
    events: [],
    library: [],
    index: new Map(),
    debts: [],
    warnings: [],
    failLibrary: false,
    failIndex: false,
  };
  const stores: Pick<Stores, 'reviews' | 'analyses' | 'failures' | 'library' | 'vectorDebts'> = {
    vectorDebts: memoryDebts(state),
    reviews: memoryReviews(state),
    library: memoryLibrary(state),
    analyses: {
      insertOnce: unused,
      find: async (id) => given.analyses.find((analysis) => analysis.id === id) ?? null,
      listByBuild: async (buildId) => given.analyses.filter((analysis) => analysis.buildId === buildId),
    },
    failures: {
      saveGroups: unused,
      search: unused,
      listByBuild: async (buildId) => given.failures.filter((failure) => failure.buildId === buildId),
    },
  };
  const logger: Logger = { ...silentLogger, warn: (_, message) => void state.warnings.push(message) };
  const clock = { now: () => state.now };
  const vectorIndex = memoryIndex(state);
  const payVectors: ReviewDeps['payVectors'] = (namespace, ids) =>
    payAtOnce({ debts: stores.vectorDebts, vectorIndex, logger }, namespace, ids);
  return {
    state,
    deps: {
      ...{ stores: { ...stores, questions: noQuestions }, jobQueue: { enqueue: unused } },
      ...{ database: memoryDatabase(state), vectorIndex, payVectors, masker, clock, logger, claimMs: CLAIM_MS },
    },
  };
}

const noQuestions: Stores['questions'] = {
  ...{ ask: unused, find: async () => null, findByTriage: async () => null },
  ...{ list: async () => [], answer: async () => null, expire: async () => [] },
};

/** Hides the word "hunter2". */
const masker: Pick<Masker, 'mask'> = {
  mask: async (text) => ({ text: text.replaceAll('hunter2', '***'), count: text.split('hunter2').length - 1 }),
};

/** A transaction that takes back what it did when it fails. */
function memoryDatabase(state: ReviewWorld['state']): Database {
  return {
    driver: 'pglite',
    exclusive: true,
    query: unused,
    migrate: unused,
    close: async () => undefined,
    transaction: async (work) => {
      const before = { reviews: new Map(state.reviews), events: [...state.events], library: [...state.library], debts: [...state.debts] };
      try {
        return await work({ query: unused });
      } catch (error) {
        Object.assign(state, before);
        throw error;
      }
    },
  };
}

function memoryReviews(state: ReviewWorld['state']): ReviewStore {
  const current = (id: string): Review | null => {
    const review = state.reviews.get(id);
    if (review === undefined) return null;
    const expired = review.claimExpiresAt !== null && Date.parse(review.claimExpiresAt) <= state.now;
    return expired ? { ...review, state: 'waiting', claimedBy: null, claimExpiresAt: null } : review;
  };
  const change = (review: Review, event: ReviewEvent['event'], actor: string, changes: Partial<Review>) => {
    const changed = { ...review, ...changes, version: review.version + 1 };
    state.reviews.set(review.id, changed);
    state.events.push({ reviewId: review.id, event, actor, at: new Date(state.now).toISOString(), details: {} });
    return changed;
  };
  const free = (review: Review | null, reviewer: string): review is Review =>
    review !== null && (review.state === 'waiting' || (review.state === 'claimed' && review.claimedBy === reviewer));
  return {
    open: unused,
    find: async (id) => current(id),
    list: async (filter, { limit, offset }) =>
      [...state.reviews.keys()]
        .flatMap((id) => current(id) ?? [])
        .filter((review) => filter.state === undefined || review.state === filter.state)
        .filter((review) => filter.category === undefined || review.category === filter.category)
        .filter((review) => filter.repository === undefined || review.repository === filter.repository)
        .slice(offset, offset + limit),
    claim: async (id, reviewer, claimMs) => {
      const review = current(id);
      if (!free(review, reviewer)) return null;
      const claimExpiresAt = new Date(state.now + claimMs).toISOString();
      return change(review, 'claimed', reviewer, { state: 'claimed', claimedBy: reviewer, claimExpiresAt });
    },
    release: async (id, reviewer) => {
      const review = current(id);
      if (review?.claimedBy !== reviewer) return null;
      return change(review, 'released', reviewer, { state: 'waiting', claimedBy: null, claimExpiresAt: null });
    },
    decide: async (id, version, decision: Decision) => {
      const review = current(id);
      if (!free(review, decision.reviewer) || review.version !== version) return null;
      return change(review, 'decided', decision.reviewer, { state: 'decided', claimedBy: null, claimExpiresAt: null, decision });
    },
    events: async (id) => state.events.filter((event) => event.reviewId === id),
  };
}

function memoryLibrary(state: ReviewWorld['state']): LibraryStore {
  const newestFirst = () => state.library.toSorted((a, b) => (a.confirmedAt + a.id < b.confirmedAt + b.id ? 1 : -1));
  return {
    insert: async (entry) => {
      if (state.failLibrary) throw new Error('disk full');
      state.library.push(entry);
    },
    find: async (id) => state.library.find((entry) => entry.id === id) ?? null,
    recall: async ({ fingerprint, repository }) =>
      newestFirst().find((entry) => entry.fingerprint.value === fingerprint && entry.repository === repository) ?? null,
    seen: unused,
    list: async ({ limit, offset }) => newestFirst().slice(offset, offset + limit),
  };
}

function memoryDebts(state: ReviewWorld['state']): VectorDebtStore {
  return {
    owe: async (debts) => {
      state.debts = [...state.debts.filter(({ id }) => !debts.some((debt) => debt.id === id)), ...debts];
    },
    takeThese: async (_, ids) =>
      state.debts.filter(({ id }) => ids.includes(id)).map((debt) => ({ ...debt, attempts: 1, version: 1, lease: 1 })),
    settle: async ({ id }) => {
      state.debts = state.debts.filter((debt) => debt.id !== id);
    },
    release: async () => undefined,
    ...{ take: unused, reclaim: unused, waiting: unused },
  };
}

function memoryIndex(state: ReviewWorld['state']): VectorIndex {
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
    search: unused,
    list: async () => [...state.index.values()],
    count: async () => state.index.size,
  };
}

async function unused(): Promise<never> {
  throw new Error('not needed here');
}
