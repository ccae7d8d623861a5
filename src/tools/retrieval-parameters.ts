import { z } from 'zod';
import { Category } from '../domain/category.ts';

/**
 * Creates the parameters of a tool that finds texts similar to this failure. `category` describes that
 * parameter.
 */
export function createRetrievalParameters(category: string) {
  return z.strictObject({
    query: z
      .string()
      .trim()
      .min(1)
      .max(2_000)
      .optional()
      .describe('Words of the failure; by default its message, diagnostics and exceptions'),
    category: Category.optional().describe(category),
    limit: z.int().min(1).max(10).default(5),
  });
}
