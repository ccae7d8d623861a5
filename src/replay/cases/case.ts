import type { Build, SourceText } from '../../domain/build.ts';
import type { DatasetRow } from './row.ts';

export interface CaseLimits {
  /** Of one decompressed log. */
  readonly maxBytes: number;
  /** Read the green log of cases that name one. */
  readonly green: boolean;
}

/** What a case is answered from; none of it is masked yet. */
export interface CaseTexts {
  /** At least one. */
  readonly sources: readonly SourceText[];
  readonly greenText: string | undefined;
  /** Where a clone of its repository is: a folder, or a tar archive of one. */
  readonly repository?: string;
}

/** A failure with its truth. Logs are read when their turn comes: a hundred thousand cases must not all be in memory. */
export interface ReplayCase {
  /** What is known to be true of it. */
  readonly row: DatasetRow;
  /** The build it happened in, where that is known. */
  readonly build?: Build;
  /** Throws where there is no log, or none that can be read. */
  load(limits: CaseLimits): Promise<CaseTexts>;
}

/** What is wrong with a case. `line` is 1-based, in a file the line; 0 where there is none. */
export interface BadCase {
  readonly line: number;
  readonly id: string | null;
  /** A sentence with the line and the field, where there are such. */
  readonly error: string;
  /** The field of the row that is wrong, as in `expected_lines.0.1`. */
  readonly field?: string;
  /** All that is wrong with the row, where that is more than one thing. */
  readonly problems?: readonly { readonly path: string; readonly reason: string }[];
}

/** A case, or what is wrong with it: a bad one never stops the rest. */
export type CaseOutcome = { readonly line: number; readonly one: ReplayCase } | BadCase;
