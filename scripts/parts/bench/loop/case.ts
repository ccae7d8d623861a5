import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildStatus } from '../../../../src/domain/build.ts';
import type { Category } from '../../../../src/domain/category.ts';
import { createRepository } from '../planted/history.ts';
import type { PlannedCommit } from '../planted/program.ts';

/** A failure with all available information and its truth. */
export interface LoopCase {
  readonly name: string;
  /** Cases of the same project are resampled together, and belong to the same half of the set. */
  readonly project: string;
  readonly repository: string;
  readonly log: string;
  /** The folder of a clone. Null if the code cannot be read. */
  readonly clone: string | null;
  readonly commit: string | null;
  /** Earlier builds, oldest first. */
  readonly past: readonly PastBuild[];
  readonly documents: readonly TeamDocument[];
  readonly truth: Truth;
}

/** An earlier build. It belongs to the same repository unless it names another. */
export interface PastBuild {
  readonly status: BuildStatus;
  readonly commit?: string;
  readonly repository?: string;
  readonly branch?: string;
  /** The log of a failed build. */
  readonly log?: string;
  /** A person's decision about it. */
  readonly decided?: { readonly category: Category; readonly rootCause: string; readonly fix: string };
}

export interface TeamDocument {
  readonly source: string;
  readonly bytes: Buffer;
}

/** The truth of a case. It is written before any design runs. */
export interface Truth {
  /** The right category, followed by others that are accepted. */
  readonly categories: readonly [Category, ...Category[]];
  /** The facts that the cause must mention, each as a list of spellings. */
  readonly cause: readonly Spellings[];
  /** The facts that the cause must mention and that are not in the log. */
  readonly beyondLog?: readonly Spellings[];
  /** The commit or the file at fault. Null if the code is not at fault. */
  readonly suspect: { readonly commit: string | null; readonly path: string } | null;
  /** The facts that the fix must mention. Empty if the right fix cannot be known. */
  readonly fix: readonly Spellings[];
  /** The tools whose results settle the case. */
  readonly settledBy: readonly string[];
  /** Words in the result of such a tool that state the cause. */
  readonly proof: string;
  readonly because: string;
}

export type Spellings = readonly string[];

/** Writes the commits to a new repository below `parent`. Returns its folder and the ids of the commits. */
export function writeHistory(parent: string, commits: readonly PlannedCommit[]) {
  const folder = mkdtempSync(join(parent, 'history-'));
  const repository = createRepository(folder);
  const ids = commits.map(repository.commit);
  return { folder, ids, head: ids.at(-1) ?? '' };
}

/** Joins the lines of a log and adds the end of a job. */
export function endLog(lines: readonly string[], exitCode = 1): string {
  return `${lines.join('\n')}\n##[error]Process completed with exit code ${exitCode}.\n`;
}
