import { z } from 'zod';
import { Grade } from '../../../domain/analysis.ts';
import { type CATEGORIES, Category, Kind } from '../../../domain/category.ts';

/**
 * What a model is asked to reply, per judgement. Everything is required and nothing is bounded, as OpenAI's strict schemas
 * want it; numbers are clamped and ids checked afterwards. Reasons stand before verdicts, so that they are thought first.
 */
export const ClassifyReply = z.object({
  because: z.string(),
  category: Category,
  kind: Kind,
  confidence: z.number(),
  probabilities: z.object({
    CODE_ERROR: z.number(),
    INFRA_ERROR: z.number(),
    CONFIG_ERROR: z.number(),
    DEPENDENCY_ERROR: z.number(),
    TEST_FAILURE: z.number(),
  } satisfies Record<(typeof CATEGORIES)[number], z.ZodNumber>),
  abstained: z.boolean(),
});
export type ClassifyReply = z.infer<typeof ClassifyReply>;

export const ReasonReply = z.object({
  thought: z.string(),
  gaps: z.array(z.object({ missing: z.string(), tool: z.string().nullable(), blocks: z.boolean() })),
  revised: z.object({ category: Category, kind: Kind }).nullable(),
  confidence: z.number(),
  next: z.enum(['look', 'answer', 'stop']),
});
export type ReasonReply = z.infer<typeof ReasonReply>;

export const CorrectReply = z.object({ why: z.string(), args: z.record(z.string(), z.unknown()).nullable() });

export const AnswerReply = z.object({
  title: z.string(),
  rootCause: z.string(),
  fixRecommendation: z.string(),
  claims: z.array(
    z.object({
      text: z.string(),
      evidence: z.array(z.string()),
      quotes: z.array(z.object({ source: z.string(), line: z.number(), text: z.string() })),
    }),
  ),
  suspects: z.array(
    z.object({
      path: z.string(),
      line: z.number().nullable(),
      commit: z.string().nullable(),
      author: z.string().nullable(),
      score: z.number(),
      reason: z.string(),
    }),
  ),
  hypotheses: z.array(z.object({ text: z.string(), category: Category, settledBy: z.string() })),
  confidence: z.number(),
});
export type AnswerReply = z.infer<typeof AnswerReply>;

export const VerifyReply = z.object({
  grades: z.array(z.object({ evidence: z.string(), grade: Grade })),
  unsupportedClaims: z.array(z.string()),
  gaps: z.array(z.string()),
  against: z.array(z.string()),
  confidence: z.number(),
});
export type VerifyReply = z.infer<typeof VerifyReply>;

/** A probability, whatever the model wrote: NaN is 0. */
export function clamp(value: number): number {
  return Number.isNaN(value) ? 0 : Math.min(1, Math.max(0, value));
}
