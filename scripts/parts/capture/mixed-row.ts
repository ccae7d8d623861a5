import type { Quote, Recipe } from './truth.ts';

/**
 * One failure of a build, with words that occur only in its part of the log. The author of the project knows
 * the cause.
 */
export interface MixedFailure {
  /** The name of the test as the runner prints it. Absent for a linter's finding or a failed step. */
  readonly test?: string;
  readonly suite?: string;
  /** Words of one log line that no failure with another cause contains. */
  readonly message: string;
  /** Words of the header of its block. The message and `lines` are searched from there on. */
  readonly at?: string;
  /** Further lines that belong to it. */
  readonly lines?: readonly Quote[];
  /** Failures with equal texts have the same cause. */
  readonly cause: string;
  readonly category: Recipe['category'];
  readonly also_ok: readonly Recipe['category'][];
  readonly kind?: string;
  /** The job whose log contains it, if the build has several. */
  readonly log?: string;
}

/** The commands of one step. `name` appears only in a pipeline. */
export interface MixedStep {
  readonly name?: string;
  readonly run: string;
  /**
   * The number of seconds after which the run is canceled, as a matrix cancels the other jobs after a
   * failure.
   */
  readonly cancelAfter?: number;
}

export interface MixedJob {
  readonly name: string;
  readonly exitCode: number;
  readonly steps: readonly MixedStep[];
}

/** A build that fails in several ways. The rows of `mixed/*.ts` have this type. */
export interface MixedBuild {
  /** The folder of the fixture. */
  readonly id: string;
  readonly runner: string;
  readonly ci?: Recipe['ci'];
  /** The repository's name on the runner. */
  readonly project: string;
  readonly setup?: string;
  readonly version?: string;
  readonly debian?: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Commands of an earlier step that passes. */
  readonly before?: string;
  /** One job with one log, or several. */
  readonly run?: string | readonly MixedStep[];
  readonly jobs?: readonly MixedJob[];
  /** True if steps run after an earlier one failed. */
  readonly keepGoing?: boolean;
  /** Stages that a pipeline skips at the end. */
  readonly skipped?: readonly string[];
  readonly exitCode?: number;
  readonly network?: 'none' | 'unavailable';
  /** The pattern of the JUnit XML files that the tool writes. */
  readonly report?: string;
  /** Words of the runner's own summary, which prove that the author knows every failure. */
  readonly tally: string | readonly string[];
  readonly failures: readonly MixedFailure[];
  /**
   * True if the failures are findings of linters or compilers. Then each step has one cause, whatever their
   * rules.
   */
  readonly findings?: true;
  /** True if the build passed, whatever it prints. */
  readonly green?: true;
  readonly passedOnRetry?: readonly string[];
}

/** The kind of a failure, and other kinds that are acceptable. */
type Sort = Pick<MixedFailure, 'category' | 'also_ok' | 'kind'>;

export const assertion: Sort = { category: 'TEST_FAILURE', also_ok: [], kind: 'assertion' };
export const snapshot: Sort = { category: 'TEST_FAILURE', also_ok: [], kind: 'snapshot' };
export const nullReference: Sort = {
  category: 'CODE_ERROR',
  also_ok: ['TEST_FAILURE'],
  kind: 'null_reference',
};
export const thrown: Sort = { category: 'CODE_ERROR', also_ok: ['TEST_FAILURE'], kind: 'crash' };
export const testTimeout: Sort = { category: 'TEST_FAILURE', also_ok: ['CODE_ERROR'], kind: 'timeout' };
export const refused: Sort = {
  category: 'CONFIG_ERROR',
  also_ok: ['INFRA_ERROR'],
  kind: 'service_unavailable',
};
export const missingFile: Sort = {
  category: 'CONFIG_ERROR',
  also_ok: ['CODE_ERROR', 'TEST_FAILURE'],
  kind: 'missing_file',
};
export const missingSetting: Sort = {
  category: 'CONFIG_ERROR',
  also_ok: ['CODE_ERROR', 'TEST_FAILURE'],
  kind: 'environment',
};
export const ownModule: Sort = { category: 'CODE_ERROR', also_ok: ['CONFIG_ERROR'], kind: 'missing_module' };
export const missingPackage: Sort = {
  category: 'DEPENDENCY_ERROR',
  also_ok: ['CONFIG_ERROR'],
  kind: 'missing_module',
};
export const brokenFixture: Sort = {
  category: 'TEST_FAILURE',
  also_ok: ['CODE_ERROR', 'CONFIG_ERROR'],
  kind: 'crash',
};
export const finding: Sort = { category: 'CODE_ERROR', also_ok: [], kind: 'lint_failure' };
export const typeFinding: Sort = { category: 'CODE_ERROR', also_ok: [], kind: 'type_error' };
export const compileError: Sort = { category: 'CODE_ERROR', also_ok: [], kind: 'compile_error' };
