import type { Category } from '../../../../src/domain/category.ts';
import type { CaseTexts, DatasetRow } from '../../../../src/replay/cases/case.ts';

/** A failed build, the same for every tool of the open benchmark. */
export interface Question {
  readonly id: string;
  /** The logs and reports of the build, as received. */
  readonly texts: CaseTexts['sources'];
  /** The labels. Tools must not use them. An adapter may need names of files in them, such as a clone. */
  readonly row: DatasetRow;
}

/** A tool's answer to a failed build. Omit what the tool does not state. */
export interface ToolAnswer {
  /** All text that a person would read. Only the first 4,000 characters count. */
  readonly text: string;
  /** Any number that is higher for answers of which the tool is more certain. */
  readonly confidence?: number;
  readonly category?: Category | null;
  /** The kind, if the tool uses Faultline's names. `flaky_timing` means flaky. */
  readonly kind?: string | null;
  /** True if the tool would show the answer to everybody without asking a person. */
  readonly published?: boolean;
  /** The probability that a rerun would pass, 0..1. */
  readonly transient?: number | null;
}

/** A tool that takes part in the benchmark. A module of about twenty lines exports one as `adapter`. */
export interface Adapter {
  readonly name: string;
  answer(question: Question): Promise<ToolAnswer> | ToolAnswer;
}
