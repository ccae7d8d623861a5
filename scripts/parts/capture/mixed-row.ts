import type { Quote, Recipe } from './truth.ts';

/**
 * One thing that failed in a build, with words of its own that its log holds. The author of the project
 * knows the cause.
 */
export interface MixedFailure {
  /** The test's name as the runner prints it; none for a finding of a linter or a step. */
  readonly test?: string;
  readonly suite?: string;
  /** What this failure says and no other one of another cause does: words of one line of the log. */
  readonly message: string;
  /** Words of its block's header: the message and `lines` are searched from there. */
  readonly at?: string;
  /** Further lines that are its own. */
  readonly lines?: readonly Quote[];
  /** Failures with equal causes have died of one thing. */
  readonly cause: string;
  readonly category: Recipe['category'];
  readonly also_ok: readonly Recipe['category'][];
  readonly kind?: string;
  /** The job whose log holds it, where the build has several. */
  readonly log?: string;
}

/** The commands of one step; `name` shows in a Pipeline only. */
export interface MixedStep {
  readonly name?: string;
  readonly run: string;
  /** Seconds after which the run is canceled, as a matrix does with the siblings of a job that failed. */
  readonly cancelAfter?: number;
}

export interface MixedJob {
  readonly name: string;
  readonly exitCode: number;
  readonly steps: readonly MixedStep[];
}

/** One build that fails in several ways. Rows of `mixed/*.ts` are these. */
export interface MixedBuild {
  /** The fixture's folder. */
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
  /** Commands of a step that passes before the others. */
  readonly before?: string;
  /** One job with one log, or several. */
  readonly run?: string | readonly MixedStep[];
  readonly jobs?: readonly MixedJob[];
  /** Steps run although an earlier one failed. */
  readonly keepGoing?: boolean;
  /** Stages that a Pipeline skips in the end. */
  readonly skipped?: readonly string[];
  readonly exitCode?: number;
  readonly network?: 'none' | 'unavailable';
  /** Glob of the JUnit XML that the tool writes. */
  readonly report?: string;
  /** Words of the runner's own count, which prove that the author knows every failure. */
  readonly tally: string | readonly string[];
  readonly failures: readonly MixedFailure[];
  /** What fails are findings of linters or compilers: one cause a step, whatever their rules. */
  readonly findings?: true;
  /** The build passed, whatever it prints. */
  readonly green?: true;
  readonly passedOnRetry?: readonly string[];
}

/** What a kind of failure is, and what else a reader could defend. */
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
