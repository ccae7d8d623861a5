import { z } from 'zod';
import { Category, Kind } from '../../domain/category.ts';
import { DecisionType, ReviewOrigin } from '../../domain/review.ts';

const LineRange = z.tuple([z.int().min(1), z.int().min(1)]);

/** One row of a data set: a log inline or by path, and whatever is known to be true of it. Unknown fields are ignored. */
export const DatasetRow = z.object({
  id: z.string().min(1),
  project: z.string().nullish(),
  source: z.string().nullish(),
  log: z.string().nullish(),
  stack_trace: z.string().nullish(),
  snippets: z.array(z.object({ log: z.string() })).nullish(),
  /** Relative to the data set's folder; plain or gzip. */
  log_path: z.string().nullish(),
  pass_log_path: z.string().nullish(),
  /** Further logs and reports of the same build; labelled lines are of the first log. */
  more_log_paths: z.array(z.string().min(1)).max(2_000).nullish(),
  /** A clone at the commit that failed, relative to the data set's folder: a folder, or a tar archive of one, plain or gzip. */
  repo_path: z.string().min(1).nullish(),
  commit: z
    .string()
    .regex(/^[0-9a-f]{7,64}$/i)
    .nullish(),
  expected_lines: z.array(LineRange).nullish(),
  category: Category.nullish(),
  also_ok: z.array(Category).nullish(),
  category_alternatives: z.array(Category).nullish(),
  failing_tests: z.array(z.string()).nullish(),
  faulty_files: z.array(z.string()).nullish(),
  group: z.string().nullish(),
  /** The step that turned the job red, in any words, and the code with which it ended. */
  step: z.string().min(1).nullish(),
  exit_code: z.int().nullish(),
  kind: Kind.nullish(),
  /** In words; data sets that keep it as fields of their own have none that could be compared. */
  root_cause: z.string().nullish().catch(null),
  fix: z.string().nullish(),
  /** Words that a right explanation names, and words that only a wrong one does. */
  required_mentions: z.array(z.string().min(1)).nullish(),
  /** The same, each with its spellings; it counts before `required_mentions`. */
  required_mentions_any: z.array(z.array(z.string().min(1)).min(1)).nullish(),
  forbidden_mentions: z.array(z.string().min(1)).nullish(),
  /** When the build failed; a split by time goes by it. */
  happened_at: z.iso.datetime({ offset: true }).nullish(),
  /** Who said that this is the truth. */
  decided_by: z.string().nullish(),
  /** How the truth came about, where a review is its source: why a person looked, what they did, and whether they judged unseen. */
  review: z.object({ origin: ReviewOrigin, decision: DecisionType, blind: z.boolean() }).nullish(),
});
export type DatasetRow = z.infer<typeof DatasetRow>;
