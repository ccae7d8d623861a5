import { z } from 'zod';
import type { Analysis } from '../../domain/analysis.ts';
import { Build } from '../../domain/build.ts';
import type { Category } from '../../domain/category.ts';
import { type DecisionInput, Review, ReviewCounts } from '../../domain/review.ts';
import { DecisionView, GuessView, LastDecisionView, NextView, ReviewDetail, UndoView } from '../../review/views.ts';
import { askServer } from '../server-client.ts';

/** An item with all that is shown of it. */
export interface Item {
  readonly review: Review;
  readonly analysis: Analysis;
  /** A category of one's own is to be named before the verdict is shown. */
  readonly blind: boolean;
  /** Null where the build cannot be read. */
  readonly build: Build | null;
}

/** The queue of a running service, as one reviewer sees it. Every method throws TriageError with the service's own sentence. */
export interface ReviewClient {
  counts(): Promise<ReviewCounts>;
  /** Holds the next item; null where nothing waits for this reviewer. */
  next(after?: string): Promise<Review | null>;
  /** Holds this one. */
  claim(id: string): Promise<Review>;
  read(id: string): Promise<Item>;
  /** The review of an analysis; opened where there is none. */
  ofAnalysis(id: string): Promise<Review>;
  guess(id: string, category: Category): Promise<void>;
  /** Says in one sentence what was taught. */
  decide(review: Review, decision: DecisionInput): Promise<string>;
  skip(id: string): Promise<void>;
  release(id: string): Promise<void>;
  /** Takes back this reviewer's newest decision; null where there is none. */
  undoLast(): Promise<Review | null>;
}

const BuildAnswer = z.object({ build: Build });

export function openReviewClient(server: { readonly url: string; readonly token: string }): ReviewClient {
  const at = (id: string, rest = '') => `/api/reviews/${encodeURIComponent(id)}${rest}`;
  const post = async <Value>(path: string, schema: z.ZodType<Value>, body: object = {}) =>
    await askServer(server, 'POST', path, schema, body);
  return {
    counts: async () => await askServer(server, 'GET', '/api/reviews/counts', ReviewCounts),
    next: async (after) => (await post('/api/reviews/next', NextView, { sort: 'risk', ...(after === undefined ? {} : { after }) })).review,
    claim: async (id) => await post(at(id, '/claim'), Review),
    read: async (id) => {
      const { review, analysis, blind } = await askServer(server, 'GET', at(id), ReviewDetail);
      const build = await askServer(server, 'GET', `/api/builds/${encodeURIComponent(review.buildId)}`, BuildAnswer).catch(() => null);
      return { review, analysis, blind, build: build?.build ?? null };
    },
    ofAnalysis: async (id) => await post(`/api/analyses/${encodeURIComponent(id)}/review`, Review),
    guess: async (id, category) => void (await post(at(id, '/guess'), GuessView, { category })),
    decide: async ({ id, version }, decision) => (await post(at(id, '/decision'), DecisionView, { ...decision, version })).teaching,
    skip: async (id) => void (await post(at(id, '/skip'), Review)),
    release: async (id) => void (await post(at(id, '/release'), Review)),
    undoLast: async () => {
      const { decision } = await askServer(server, 'GET', '/api/reviews/last-decision', LastDecisionView);
      return decision === null ? null : (await post(at(decision.reviewId, '/undo'), UndoView)).review;
    },
  };
}
