import { z } from 'zod';
import type { Build, SourceText } from '../../domain/build.ts';
import { Category, Kind } from '../../domain/category.ts';
import { Blame, Experiment } from '../../domain/experiment.ts';
import { DecisionType, ReviewOrigin } from '../../domain/review.ts';
import { append } from '../../lib/collections.ts';
import { BUILD_FIELDS, LineRange } from './labelled-failure.ts';

/** A row of a data set: a log, inline or by path, and labels. Unknown fields are ignored. */
export const DatasetRow = z.object({
  id: z.string().min(1),
  project: z.string().nullish(),
  source: z.string().nullish(),
  log: z.string().nullish(),
  stack_trace: z.string().nullish(),
  snippets: z.array(z.object({ log: z.string() })).nullish(),
  /** The path of the log, relative to the data set's folder; plain or gzip. */
  log_path: z.string().nullish(),
  pass_log_path: z.string().nullish(),
  /** Further logs and reports of the same build. Labeled lines are those of the first log. */
  more_log_paths: z.array(z.string().min(1)).max(2_000).nullish(),
  ...BUILD_FIELDS,
  /**
   * A clone at the commit that failed, relative to the data set's folder: a folder, or a tar archive of one,
   * plain or gzip.
   */
  repo_path: z.string().min(1).nullish(),
  commit: z
    .string()
    .regex(/^[0-9a-f]{7,64}$/i)
    .nullish(),
  expected_lines: z.array(LineRange).nullish(),
  /** Further lines that help a reader but prove nothing by themselves. */
  helpful_lines: z.array(LineRange).nullish(),
  category: Category.nullish(),
  also_ok: z.array(Category).nullish(),
  category_alternatives: z.array(Category).nullish(),
  failing_tests: z.array(z.string()).nullish(),
  /** Files that the log proves to be at fault. */
  files: z.array(z.string()).nullish(),
  faulty_files: z.array(z.string()).nullish(),
  group: z.string().nullish(),
  /** The step that failed the job, in any words, and its exit code. */
  step: z.string().min(1).nullish(),
  exit_code: z.int().nullish(),
  kind: Kind.nullish(),
  /**
   * The root cause in words. Data sets that store it as separate fields have no root cause that could be
   * compared.
   */
  root_cause: z.string().nullish().catch(null),
  fix: z.string().nullish(),
  /** Words that a right explanation contains, and words that only a wrong one contains. */
  required_mentions: z.array(z.string().min(1)).nullish(),
  /**
   * The words that a right explanation contains, each with its spellings. They take precedence over
   * `required_mentions`.
   */
  required_mentions_any: z.array(z.array(z.string().min(1)).min(1)).nullish(),
  forbidden_mentions: z.array(z.string().min(1)).nullish(),
  /** The tools of which any one can settle the case. */
  settled_by: z.array(z.string().min(1)).nullish(),
  blame: Blame.nullish(),
  /** The result of a rerun of the job: as observed, and as a reader of the log estimated. */
  intermittent: z.boolean().nullish(),
  transient: z.enum(['yes', 'no', 'maybe', 'unknown']).nullish().catch(null),
  /**
   * The result of running the failure again, as printed by `faultline confirm --json`. The answer takes it
   * into account.
   */
  experiment: Experiment.nullish(),
  /** The time at which the build failed, ISO 8601. A split by time uses it. */
  happened_at: z.iso.datetime({ offset: true }).nullish(),
  decided_by: z.string().nullish(),
  /**
   * The origin of the labels if they come from a review: the reason for the review, the decision, and whether
   * the reviewer decided without seeing the answer.
   */
  review: z.object({ origin: ReviewOrigin, decision: DecisionType, blind: z.boolean() }).nullish(),
});
export type DatasetRow = z.infer<typeof DatasetRow>;

export interface CaseLimits {
  /** The size limit of one decompressed log, in bytes. */
  readonly maxBytes: number;
  readonly green: boolean;
}

/** The texts of a case, before masking. */
export interface CaseTexts {
  /** The texts of the logs and reports; at least one. */
  readonly sources: readonly SourceText[];
  readonly greenText: string | undefined;
  /** The path of a clone of its repository: a folder, or a tar archive of one. */
  readonly repository?: string;
}

/**
 * A failure with its labels. Logs are read only when they are needed, because a hundred thousand cases do not
 * fit in memory.
 */
export interface ReplayCase {
  readonly row: DatasetRow;
  readonly build?: Build;
  /** Loads the texts of the case. Throws if there is no log, or none that is readable. */
  load(limits: CaseLimits): Promise<CaseTexts>;
}

/** An error in a case. `line` is the line number in the file, 1-based; 0 if there is none. */
export interface BadCase {
  readonly line: number;
  readonly id: string | null;
  /** A sentence with the line and the field, if they are known. */
  readonly error: string;
  /** The field of the row that is wrong, as in `expected_lines.0.1`. */
  readonly field?: string;
  /** All problems of the row, if there is more than one. */
  readonly problems?: readonly { readonly path: string; readonly reason: string }[];
}

/** A case, or its error. An invalid case never prevents reading the others. */
export type CaseOutcome = { readonly line: number; readonly one: ReplayCase } | BadCase;

/**
 * Checks whether all failures of a row's build are labeled, or nothing failed. Then all answers are scored,
 * not only the first one.
 */
export function isLabelledBuild({ failures, green }: Pick<DatasetRow, 'failures' | 'green'>): boolean {
  return green === true || (failures?.length ?? 0) > 0;
}

/**
 * Splits entries into at most this number of parts of about the same size, with all entries of a project in
 * one part. The largest projects are assigned first, each to the smallest part, so that the same entries
 * always make the same parts.
 */
export function splitIntoFolds<T>(cases: readonly T[], projectOf: (entry: T) => string, most: number): T[][] {
  const projects = Map.groupBy(cases, projectOf);
  const bySize = [...projects].sort(
    ([left, ones], [right, others]) => others.length - ones.length || (left < right ? -1 : 1),
  );
  const folds: T[][] = Array.from({ length: Math.min(most, bySize.length) }, () => []);
  for (const [, members] of bySize) {
    const smallest = folds.reduce((best, fold) => (fold.length < best.length ? fold : best));
    append(smallest, members);
  }
  return folds;
}

/**
 * Returns the project of a row: as the row names it, or else the repository of its source, or else the first
 * part of its id ("ldtax/97"), or else the row itself.
 */
export function resolveProject(row: DatasetRow): string {
  if (row.project != null && row.project !== '') return row.project;
  const repository = /^https?:\/\/[\w.-]+\/([^/\s]+\/[^/\s]+)/.exec(row.source ?? '')?.[1];
  if (repository !== undefined) return repository;
  return row.id.includes('/') ? (row.id.split('/')[0] ?? row.id) : row.id;
}
