import { z } from 'zod';
import { Answer, Classification, ConfidenceFactor, Grade } from '../../domain/analysis.ts';
import { Category, Kind } from '../../domain/category.ts';
import { ToolCall } from '../../domain/evidence.ts';

const Plan = z
  .object({
    thought: z.string(),
    confidence: z.number(),
    enough: z.boolean(),
    retrieval: z.number(),
    gaps: z.array(z.object({ missing: z.string(), tool: z.string().nullable(), blocks: z.boolean() })).optional(),
    revised: z.object({ category: Category, kind: Kind }).optional(),
  })
  .transform(({ gaps, revised, ...rest }) => ({
    ...rest,
    ...(gaps === undefined ? {} : { gaps }),
    ...(revised === undefined ? {} : { revised }),
  }));

const Assessment = z
  .object({
    grades: z.record(z.string(), Grade),
    unsupportedClaims: z.array(z.string()),
    gaps: z.array(z.string()),
    confidence: z.number(),
    against: z.array(z.string()),
    factors: z.array(ConfidenceFactor).optional(),
  })
  .transform(({ factors, ...rest }) => ({ ...rest, ...(factors === undefined ? {} : { factors }) }));

/** What each judgement's recorded value must be. */
export const JUDGEMENT_VALUES = {
  classify: Classification,
  plan: Plan,
  chooseTools: z.array(ToolCall),
  correctCall: ToolCall.nullable(),
  answer: Answer,
  verify: Assessment,
};
