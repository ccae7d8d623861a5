import type { Category } from '../../../../src/domain/category.ts';
import type { CaseTexts, DatasetRow } from '../../../../src/replay/cases/case.ts';

/** A failed build as every tool of the open benchmark gets it. */
export interface Question {
  readonly id: string;
  /** The logs and reports of the build, as they came. */
  readonly texts: CaseTexts['sources'];
  /** The labels. No tool may look at them; an adapter may need the names of files, such as a clone. */
  readonly row: DatasetRow;
}

/** What a tool says of a failed build. Leave out what the tool does not say. */
export interface ToolAnswer {
  /** Everything that a person would read; the first 4,000 characters count. */
  readonly text: string;
  /** Orders the answers, surest first: any number. */
  readonly confidence?: number;
  readonly category?: Category | null;
  /** The kind, where the tool knows Faultline's names; `flaky_timing` means flaky. */
  readonly kind?: string | null;
  /** Whether the tool would show it to everybody without asking a person. */
  readonly published?: boolean;
  /** Probability that a re-run would pass, 0..1. */
  readonly transient?: number | null;
}

/** A tool under measurement. A module of twenty lines that exports one as `adapter` joins the benchmark. */
export interface Adapter {
  readonly name: string;
  answer(question: Question): Promise<ToolAnswer> | ToolAnswer;
}
