import { z } from 'zod';
import { Category } from './category.ts';
import { Kind } from './kind.ts';

export const ReviewState = z.enum(['waiting', 'claimed', 'decided']);
export type ReviewState = z.infer<typeof ReviewState>;

export const DecisionType = z.enum(['accept', 'correct', 'reject']);
export type DecisionType = z.infer<typeof DecisionType>;

/** What a person says about an analysis. `correct` needs at least a category; `reject` needs a reason. */
export const DecisionInput = z.object({
  type: DecisionType,
  category: Category.optional(),
  kind: Kind.optional(),
  rootCause: z.string().min(1).max(4000).optional(),
  fixRecommendation: z.string().min(1).max(4000).optional(),
  reason: z.string().min(1).max(4000).optional(),
});
export type DecisionInput = z.infer<typeof DecisionInput>;

/** A stored decision; the audit trail keeps every one. */
export const Decision = DecisionInput.extend({
  id: z.string(),
  reviewId: z.string(),
  analysisId: z.string(),
  reviewer: z.string(),
  decidedAt: z.iso.datetime(),
});
export type Decision = z.infer<typeof Decision>;

/** One analysis waiting for a person. `version` rises with every change; deciding with an old one is refused. */
export const Review = z.object({
  id: z.string(),
  analysisId: z.string(),
  buildId: z.string(),
  repository: z.string(),
  title: z.string(),
  category: Category,
  confidence: z.number(),
  why: z.array(z.string()),
  state: ReviewState,
  claimedBy: z.string().nullable(),
  claimExpiresAt: z.iso.datetime().nullable(),
  version: z.int(),
  openedAt: z.iso.datetime(),
  decision: Decision.nullable(),
});
export type Review = z.infer<typeof Review>;

/** What may happen to a review, kept for the audit. */
export const ReviewEvent = z.object({
  reviewId: z.string(),
  event: z.enum(['opened', 'claimed', 'released', 'decided', 'asked', 'answered', 'expired']),
  actor: z.string(),
  at: z.iso.datetime(),
  details: z.record(z.string(), z.unknown()),
});
export type ReviewEvent = z.infer<typeof ReviewEvent>;

/** Rights of a token. Each route names the one it needs; `admin` has all. */
const ROLES = ['ingest', 'read', 'review', 'admin'] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

/** Who is asking: the token's name and its roles. */
export interface Principal {
  readonly name: string;
  readonly roles: readonly Role[];
  /** `owner/name` or `owner/*`: all that it may see or touch; absent or null: everything. */
  readonly repositories?: readonly string[] | null;
}
