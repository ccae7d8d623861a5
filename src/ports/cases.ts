import { z } from 'zod';
import { Analysis } from '../domain/analysis.ts';
import { Build } from '../domain/build.ts';
import type { Category } from '../domain/category.ts';
import { Decision, ReviewOrigin } from '../domain/review.ts';

/** Which stored failures are meant; what is not given does not matter. */
export interface CaseFilter {
  readonly repository?: string;
  readonly branch?: string;
  readonly fingerprint?: string;
  /** As a person decided, else as the machine said. */
  readonly category?: Category;
  /** ISO 8601; a build counts from when it ended, else from when it began or came. */
  readonly since?: string;
  readonly until?: string;
  /** Only what a person decided, and where the decision stands. */
  readonly decided?: true;
}

/** One cause of one failed build, with its answer and what a person said of it, where there are such. */
export const StoredCase = z.object({
  build: Build,
  fingerprint: z.string(),
  /** 0 is the first cause of its build. */
  cause: z.int(),
  analysis: Analysis.nullable(),
  /** The decision that stands. */
  decision: Decision.nullable(),
  origin: ReviewOrigin.nullable(),
});
export type StoredCase = z.infer<typeof StoredCase>;

/** Where a page ends, and the next begins. */
export type CaseCursor = Pick<StoredCase, 'cause'> & { readonly buildId: string };

/** Stored failures as cases to measure by. For commands of operators: it knows no scope, and no route may ask it. */
export interface CaseStore {
  /** The next `limit` causes after `after`, the oldest build first, the causes of a build in their order. */
  list(filter: CaseFilter, limit: number, after: CaseCursor | null): Promise<StoredCase[]>;
}
