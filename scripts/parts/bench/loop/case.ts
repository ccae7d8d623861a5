import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildStatus } from '../../../../src/domain/build.ts';
import type { Category } from '../../../../src/domain/category.ts';
import { createRepository } from '../planted/history.ts';
import type { PlannedCommit } from '../planted/program.ts';

/** One failure with everything that is at hand about it, and its truth. */
export interface LoopCase {
  readonly name: string;
  /** Cases of one project are drawn together, and are in one half of the set. */
  readonly project: string;
  readonly repository: string;
  readonly log: string;
  /** The folder of a clone; null if the code cannot be read. */
  readonly clone: string | null;
  readonly commit: string | null;
  /** What happened before, oldest first. */
  readonly past: readonly PastBuild[];
  readonly documents: readonly TeamDocument[];
  readonly truth: Truth;
}

/** An earlier build, of the same repository unless it names another. */
export interface PastBuild {
  readonly status: BuildStatus;
  readonly commit?: string;
  readonly repository?: string;
  readonly branch?: string;
  /** The log of a failed build. */
  readonly log?: string;
  /** What a person decided about it. */
  readonly decided?: { readonly category: Category; readonly rootCause: string; readonly fix: string };
}

export interface TeamDocument {
  readonly source: string;
  readonly bytes: Buffer;
}

/** What is true of a case. It is written before any design runs. */
export interface Truth {
  /** The right category, then others that are accepted. */
  readonly categories: readonly [Category, ...Category[]];
  /** What the cause names: one of the spellings of each. */
  readonly cause: readonly Spellings[];
  /** What the cause names beyond the log, where the log does not have it. */
  readonly beyondLog?: readonly Spellings[];
  /** The commit or the file at fault; null if it is not in the code. */
  readonly suspect: { readonly commit: string | null; readonly path: string } | null;
  /** What the fix names; empty if there is no fix that could be known. */
  readonly fix: readonly Spellings[];
  /** The tools whose answer settles the case. */
  readonly settledBy: readonly string[];
  /** Words that are in the answer of such a tool and tell the cause. */
  readonly proof: string;
  readonly because: string;
}

export type Spellings = readonly string[];

/** Writes the commits into a new repository below `parent`; returns its folder and the ids of the commits. */
export function writeHistory(parent: string, commits: readonly PlannedCommit[]) {
  const folder = mkdtempSync(join(parent, 'history-'));
  const repository = createRepository(folder);
  const ids = commits.map(repository.commit);
  return { folder, ids, head: ids.at(-1) ?? '' };
}

/** Joins the lines of a log and ends it as a job ends. */
export function endLog(lines: readonly string[], exitCode = 1): string {
  return `${lines.join('\n')}\n##[error]Process completed with exit code ${exitCode}.\n`;
}
