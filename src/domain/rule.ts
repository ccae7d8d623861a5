import { z } from 'zod';
import { Category } from './category.ts';
import { typedText } from './input.ts';
import { Kind } from './kind.ts';
import { Withdrawal } from './library.ts';

/** Active rules of one installation at most: all that may apply are tried on every failure that nobody has confirmed. */
export const MAX_RULES = 500;

/** What a reviewer writes: failures whose message or excerpt matches the pattern have this cause. */
export const RuleInput = z.strictObject({
  /** RE2's syntax; `^` and `$` are the ends of a line, `.` is no line end. */
  pattern: z.string().min(4).max(300),
  /** Lines of a log that it must match: what the reviewer had in mind. */
  sample: z.string().min(1).max(4000),
  /** Null: every repository. */
  repository: z.string().min(1).max(300).nullable(),
  category: Category,
  kind: Kind.default('unknown'),
  rootCause: typedText(4000),
  fixRecommendation: typedText(4000),
});
export type RuleInput = z.infer<typeof RuleInput>;

/** A stored version of a rule. At most one version is active. */
export const Rule = z.object({
  ...RuleInput.shape,
  kind: Kind,
  id: z.string(),
  version: z.int().min(1),
  title: z.string(),
  author: z.string(),
  createdAt: z.iso.datetime(),
  timesUsed: z.int(),
  lastUsedAt: z.iso.datetime().nullable(),
  withdrawn: Withdrawal.nullable(),
});
export type Rule = z.infer<typeof Rule>;
