import { z } from 'zod';
import { type Analysis, isNotDevelopersFault } from './analysis.ts';
import type { Build } from './build.ts';
import { Category, Kind } from './category.ts';
import { createId } from './ids.ts';

export const ReviewState = z.enum(['waiting', 'claimed', 'decided']);
export type ReviewState = z.infer<typeof ReviewState>;

export const DecisionType = z.enum(['accept', 'correct', 'reject']);
export type DecisionType = z.infer<typeof DecisionType>;

/** The reasons for rejecting an answer, in the order of the digit keys that choose them. */
export const RejectReason = z.enum([
  'evidence_does_not_support',
  'right_category_wrong_cause',
  'not_a_failure',
  'cannot_be_told',
]);
export type RejectReason = z.infer<typeof RejectReason>;

/** The labels of the reasons, as reviewers see them. */
export const REJECT_REASONS: Readonly<Record<RejectReason, string>> = {
  evidence_does_not_support: 'The evidence does not support it',
  right_category_wrong_cause: 'Right category, wrong cause',
  not_a_failure: 'Not a failure',
  cannot_be_told: 'Cannot tell from this log',
};

/** The proof of the corrected cause: evidence of the analysis by id, lines of its sources, or none. */
export const ShownBy = z.union([
  z.literal('none'),
  z.strictObject({
    evidence: z.array(z.string().min(1).max(20)).max(50).default([]),
    lines: z
      .array(
        z.strictObject({
          source: z.string().min(1).max(300),
          lineStart: z.int().min(1),
          lineEnd: z.int().min(1),
        }),
      )
      .max(20)
      .default([]),
  }),
]);
export type ShownBy = z.infer<typeof ShownBy>;

/**
 * The decision of a person about an analysis. `correct` needs at least a category; `reject` needs a reason
 * code or a reason in words.
 */
export const DecisionInput = z.object({
  type: DecisionType,
  category: Category.optional(),
  kind: Kind.optional(),
  rootCause: z.string().min(1).max(4000).optional(),
  fixRecommendation: z.string().min(1).max(4000).optional(),
  reason: z.string().min(1).max(4000).optional(),
  reasonCode: RejectReason.optional(),
  shownBy: ShownBy.optional(),
  /** The ISO 8601 time at which the reviewer first saw the item. If absent, the time of the claim is used. */
  openedAt: z.iso.datetime().optional(),
});
export type DecisionInput = z.infer<typeof DecisionInput>;

/** A stored decision. The audit trail keeps every decision, including those that were undone. */
export const Decision = DecisionInput.extend({
  id: z.string(),
  reviewId: z.string(),
  analysisId: z.string(),
  reviewer: z.string(),
  decidedAt: z.iso.datetime(),
  /**
   * The category that the reviewer chose before the verdict was shown, as earlier releases asked for some
   * items; absent if the verdict was shown at once.
   */
  blind: Category.optional(),
  /** Seconds from opening to decision; absent if the opening time is not known. */
  secondsOpen: z.number().min(0).optional(),
  /** The id shared by decisions that were made as one and are undone as one. */
  batchId: z.string().optional(),
});
export type Decision = z.infer<typeof Decision>;

/**
 * The reason why an item is in the queue: the analyst was unsure, a person asked for a review, or the item is
 * a sample of published answers.
 */
export const ReviewOrigin = z.enum(['unsure', 'asked', 'audit']);
export type ReviewOrigin = z.infer<typeof ReviewOrigin>;

/**
 * An analysis that waits for a person. `version` increases with every change; a decision with an old version
 * is refused.
 */
export const Review = z.object({
  id: z.string(),
  analysisId: z.string(),
  buildId: z.string(),
  repository: z.string(),
  title: z.string(),
  category: Category,
  kind: Kind,
  fingerprint: z.string(),
  /** The pull request that waits for the decision. Null if there is none. */
  pullRequest: z.int().nullable(),
  /** The risk; see `computeRisk`. */
  risk: z.number(),
  origin: ReviewOrigin,
  confidence: z.number(),
  why: z.array(z.string()),
  state: ReviewState,
  claimedBy: z.string().nullable(),
  /** The time since which it has been claimed without interruption. */
  claimedAt: z.iso.datetime().nullable(),
  claimExpiresAt: z.iso.datetime().nullable(),
  version: z.int(),
  openedAt: z.iso.datetime(),
  decision: Decision.nullable(),
});
export type Review = z.infer<typeof Review>;

/**
 * Returns the category of an item as people see it: that of a correction, or that of the analysis. Every
 * judged item has a confidence above 0, so 0 means not analyzed.
 */
export function formatItemCategory({
  category,
  confidence,
  decision,
}: Pick<Review, 'category' | 'confidence' | 'decision'>): string {
  if (decision?.type === 'correct' && decision.category !== undefined) return decision.category;
  return confidence === 0 ? 'NOT ANALYZED' : category;
}

/** A review to open. Its other fields come from its analysis and its build. */
export type NewReview = Pick<
  Review,
  'id' | 'analysisId' | 'buildId' | 'repository' | 'title' | 'category' | 'confidence' | 'why' | 'openedAt'
> &
  Partial<Pick<Review, 'risk' | 'origin'>>;

/** An event in the history of a review, kept for the audit trail. */
export const ReviewEvent = z.object({
  reviewId: z.string(),
  event: z.enum([
    'opened',
    'claimed',
    'released',
    'decided',
    'asked',
    'answered',
    'expired',
    'undone',
    'skipped',
    'guessed',
  ]),
  actor: z.string(),
  at: z.iso.datetime(),
  details: z.record(z.string(), z.unknown()),
});
export type ReviewEvent = z.infer<typeof ReviewEvent>;

/** The state of the queue as counts. "Today" begins at midnight UTC. */
export const ReviewCounts = z.object({
  waiting: z.int(),
  /** The number of items that the requesting reviewer has claimed. */
  mine: z.int(),
  decidedToday: z.int(),
  /** The number of today's decisions that accepted the machine's answer. */
  agreedToday: z.int(),
});
export type ReviewCounts = z.infer<typeof ReviewCounts>;

/** The rights of a token. Each route names the right that it needs. `admin` has all of them. */
const ROLES = ['ingest', 'read', 'review', 'admin'] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

/** The user or client that makes a request: the token's name and its roles. */
export interface Principal {
  readonly name: string;
  readonly roles: readonly Role[];
  /** The repositories that it may access: `owner/name` or `owner/*`. Absent or null means all. */
  readonly repositories?: readonly string[] | null;
}

/** Returns true if the principal has this role. An admin has every role. */
export function holds(principal: Principal | null, role: Role): boolean {
  return principal !== null && (principal.roles.includes(role) || principal.roles.includes('admin'));
}

/**
 * Computes the risk of an item. The queue is ordered by risk × the time an item has waited, highest first.
 * Risk is
 *
 * blocks (3 on a pull request, where a person waits to merge; else 1)
 * × cost if wrong (4 if the answer excuses a change that touches its own suspect; 2 if it excuses,
 * INFRA_ERROR or flaky, and no suspect is part of the change; else 1)
 *
 * so an item that blocks a person overtakes another that has waited up to three times as long. Confidence is
 * not a factor: an answer that is sure and wrong costs most.
 */
export function computeRisk(build: Pick<Build, 'commit' | 'pullRequest'>, analysis: Analysis): number {
  const blocks = build.pullRequest === null ? 1 : 3;
  if (!isNotDevelopersFault(analysis)) return blocks;
  return blocks * (findTouchedSuspects(build, analysis).length > 0 ? 4 : 2);
}

/** All possible results of `computeRisk`. */
export const RISKS: readonly number[] = [1, 2, 3, 4, 6, 12];

/**
 * Returns the suspects that the build's own change touches: its commit, or its pull request. Each path occurs
 * once.
 */
export function findTouchedSuspects(
  build: Pick<Build, 'commit' | 'pullRequest'>,
  { answer }: Pick<Analysis, 'answer'>,
): string[] {
  const ownSuspects = answer.suspects.filter(
    ({ commit, pullRequest }) =>
      isSame(commit, build.commit) || (pullRequest != null && pullRequest === build.pullRequest),
  );
  return [...new Set(ownSuspects.map(({ path }) => path))];
}

/**
 * Returns an analysis as people read it after a decision: with the category, kind, cause and advice of a
 * correction. An accepted, rejected or undecided one stays as it is.
 */
export function applyDecision(analysis: Analysis, decision: Decision | null): Analysis {
  if (decision?.type !== 'correct') return analysis;
  const category = decision.category ?? analysis.category;
  const kept = category === analysis.category ? analysis.kind : 'unknown';
  const { rootCause = analysis.answer.rootCause, fixRecommendation = analysis.answer.fixRecommendation } =
    decision;
  const answer = { ...analysis.answer, rootCause, fixRecommendation };
  return { ...analysis, category, kind: decision.kind ?? kept, answer };
}

/** Compares two commits, each of which may be a full hash or its first characters. */
function isSame(left: string | null, right: string | null): boolean {
  if (left === null || right === null || Math.min(left.length, right.length) < 7) return false;
  return left.startsWith(right) || right.startsWith(left);
}

/** Creates the review of an analysis, ready to be opened. */
export function createNewReview(
  build: Build,
  analysis: Analysis,
  {
    now,
    origin,
    why,
  }: { readonly now: number; readonly origin: ReviewOrigin; readonly why: readonly string[] },
): NewReview {
  return {
    id: createId('rev', now),
    analysisId: analysis.id,
    buildId: build.id,
    repository: build.repository,
    title: analysis.answer.title,
    category: analysis.category,
    confidence: analysis.verdict.confidence,
    why: [...why],
    risk: computeRisk(build, analysis),
    origin,
    openedAt: new Date(now).toISOString(),
  };
}

export const QuestionState = z.enum(['waiting', 'answered', 'expired']);
export type QuestionState = z.infer<typeof QuestionState>;

/**
 * A question of a running triage to a person. It is an item of the review queue without an analysis yet.
 * Texts are masked.
 */
export const ReviewerQuestion = z.object({
  id: z.string(),
  kind: z.literal('question'),
  triageId: z.string(),
  buildId: z.string(),
  repository: z.string(),
  /** A line that says which failure it concerns. */
  title: z.string(),
  /** The most probable category so far. */
  category: Category,
  question: z.string(),
  state: QuestionState,
  answer: z.string().nullable(),
  answeredBy: z.string().nullable(),
  answeredAt: z.iso.datetime().nullable(),
  openedAt: z.iso.datetime(),
  /** The time from which on the run continues without an answer. */
  expiresAt: z.iso.datetime(),
});
export type ReviewerQuestion = z.infer<typeof ReviewerQuestion>;
