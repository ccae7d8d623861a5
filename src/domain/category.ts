import { z } from 'zod';

/** Who has to act and where to look first. Decided by the cause that the failing step supports, not by the stage it surfaced in. */
export const CATEGORIES = ['CODE_ERROR', 'INFRA_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR', 'TEST_FAILURE'] as const;
export const Category = z.enum(CATEGORIES);
export type Category = z.infer<typeof Category>;

/** One probability per category; they sum to 1. */
const Probability = z.number().min(0).max(1);
export const CategoryProbabilities = z.object({
  CODE_ERROR: Probability,
  INFRA_ERROR: Probability,
  CONFIG_ERROR: Probability,
  DEPENDENCY_ERROR: Probability,
  TEST_FAILURE: Probability,
} satisfies Record<Category, typeof Probability>);
export type CategoryProbabilities = z.infer<typeof CategoryProbabilities>;
