import { z } from 'zod';

const MAX_TEXTS = 2_000;
const line = z.string().max(4_000);
const lines = z.array(line).max(MAX_TEXTS);
/** The exit codes of the runs, in order. Null if a signal or the time limit ended the run. */
const exitCodes = z.array(z.int().nullable());
/**
 * A text for the user who ran the experiment. The service never shows submitted texts, but derives its own
 * from the counts.
 */
const prose = line.default('').describe('Ignored in a report: derived from the counts');
const notes = lines.default([]).describe('Ignored in a report');

/** The run counts of one way of running the command. */
export const Arm = z.object({
  where: z.enum(['here', 'base']),
  /**
   * `suite`: the whole command. `alone`: only the failing tests. `after`: one failing test, after the tests
   * on which it depends.
   */
  what: z.enum(['suite', 'alone', 'after']),
  /** The commit of the base. Null for the checkout, which may have uncommitted changes. */
  commit: z.string().max(100).nullable(),
  /** The condition under which it was run, such as `--seed=3`. Absent for the unchanged command. */
  under: line.optional(),
  passed: z.int(),
  /** The number of runs that failed like the first run: with the same tests, or the same message. */
  failed: z.int(),
  /** The number of runs that failed in another way, which says nothing about this failure. */
  other: z.int(),
  /** The number of passes that a cache returned. They do not count as runs. */
  cached: z.int().optional(),
  exitCodes,
  milliseconds: z.array(z.int()),
});
export type Arm = z.infer<typeof Arm>;

/**
 * The position of a commit among those of the search. 0 is the good one. Absent in bisections of old senders.
 */
const at = z.int().optional();

/**
 * The search for the commit that broke a command, between a good and a bad commit, with its runs at some of
 * the commits.
 */
export const Bisection = z.object({
  command: lines,
  narrowed: lines.nullable(),
  tests: lines,
  /** The number of commits after the good one, including the bad one. */
  commits: z.int(),
  /** The runs at each commit that was tried, oldest first. */
  tried: z.array(
    z.object({
      commit: line,
      at,
      passed: z.int(),
      failed: z.int(),
      other: z.int().default(0),
      exitCodes: exitCodes.default([]),
    }),
  ),
  /** The commits at which the command could not be tried, and why. */
  skipped: z.array(z.object({ commit: line, at, why: prose })),
  /** The verdict. `part`: only some of the commits were tried; others are to be added. */
  verdict: z.enum(['found', 'one-of', 'before', 'not-reproduced', 'inconclusive', 'part']),
  /**
   * The candidates: one commit if it was found. Several, oldest first, if the commits between them could not
   * be tried or the runs do not distinguish them.
   */
  candidates: z.array(z.object({ commit: line, author: line, subject: line })).max(5_001),
  /** The probability that one of the candidates broke it, from 0 to 1. */
  confidence: z.number(),
  sentence: prose,
  notes,
});
export type Bisection = z.infer<typeof Bisection>;

/** A proposed change that was tried in a worktree, and its result. */
export const FixAttempt = z.object({
  /** The file of the diff, or the rule with its command. */
  source: prose,
  files: lines,
  added: z.int(),
  deleted: z.int(),
  /**
   * `breaks` means that the failing tests pass with the change but others fail that did not before. `refused`
   * means that it was not run.
   */
  verdict: z.enum(['fixed', 'breaks', 'not-fixed', 'inconclusive', 'refused']),
  /** The reason why it was not run. */
  refused: prose.optional(),
  /** The number of runs of the failing tests that passed with the change. */
  passed: z.int(),
  failed: z.int(),
  other: z.int().default(0),
  exitCodes: exitCodes.default([]),
  /**
   * True if the tool's own report shows that the tests that failed before ran and passed; absent if the
   * report was not checked.
   */
  reported: z.boolean().optional(),
  /** The exit codes of the wider check with the change. Empty if it was not run. */
  checkExitCodes: exitCodes.default([]),
  /** The tests that fail with the change but not without it. The whole check if it names no tests. */
  broke: lines,
  /** The change itself, if it is short enough. Null otherwise. */
  diff: z.string().max(20_000).nullable(),
  sentence: prose,
});
export type FixAttempt = z.infer<typeof FixAttempt>;

/** Proposed changes, tried one after the other until one of them fixes a failing command. */
export const FixTrial = z.object({
  command: lines,
  narrowed: lines.nullable(),
  tests: lines,
  /** The wider check that finds tests that the change broke. */
  check: lines,
  /** The runs of the failing tests without a change. */
  before: z.object({ passed: z.int(), failed: z.int(), exitCodes: exitCodes.default([]) }),
  /** The exit codes of the wider check without a change. Empty if it was not run. */
  checkExitCodes: exitCodes.default([]),
  verdict: z.enum(['fixed', 'not-fixed', 'not-reproduced']),
  attempts: z.array(FixAttempt).max(20),
  /** The local branch that was created with the change that fixes it. */
  branch: z.string().nullable(),
  /** True if the user who started the trial wants the fixing change shown in the pull request. */
  suggest: z.boolean().optional(),
  sentence: prose,
  notes,
});
export type FixTrial = z.infer<typeof FixTrial>;

export const VERDICTS = [
  'this-change',
  'not-this-change',
  'flaky',
  'reproduced',
  'not-reproduced',
  'inconclusive',
] as const;

/** The conditions, other than the code, that a run may depend on, in the order in which they are tried. */
export const CONDITIONS = ['seed', 'time zone', 'time', 'network'] as const;
export type ConditionKind = (typeof CONDITIONS)[number];

/** A failing command that was run again: the runs, their results, and the conclusion. */
export const Experiment = z.object({
  /** The argument vector that was run. It is `narrowed` to the failing tests if its tool supports that. */
  command: lines,
  narrowed: lines.nullable(),
  /** The names of the failing tests. */
  tests: lines,
  arms: z.array(Arm).max(20),
  verdict: z.enum(VERDICTS),
  /** True if the failing tests pass alone but fail in the suite. Null if this was not tried. */
  dependsOnOthers: z.boolean().nullable(),
  /** The smallest set of tests after which a failing test fails; empty if none was searched for or found. */
  polluters: lines,
  /** The condition, other than the code, that the failure depends on; absent if none was found. */
  dependsOn: z.enum(CONDITIONS).optional(),
  /**
   * The search for the commit that broke it, and the changes that were tried to fix it, if these were
   * requested.
   */
  bisection: Bisection.optional(),
  fixes: FixTrial.optional(),
  /** The conclusion from the counts, in sentences. */
  sentence: prose,
  notes,
  /**
   * The masked excerpt of the failure from the log of the first run that failed; null if there is none. The
   * service does not keep it.
   */
  excerpt: line.nullable().default(null),
});
export type Experiment = z.infer<typeof Experiment>;

/**
 * Returns the change to show in the pull request: one that fixes the failure, was requested, and is short
 * enough. Returns null if there is none.
 */
export function findSuggestedFix(
  experiment: Experiment | undefined,
): (FixAttempt & { readonly diff: string }) | null {
  const { suggest, attempts = [] } = experiment?.fixes ?? {};
  const fixed = suggest === true ? attempts.find(({ verdict }) => verdict === 'fixed') : undefined;
  return fixed === undefined || fixed.diff === null ? null : { ...fixed, diff: fixed.diff };
}

/** The party that is responsible for a failure. */
export const Blame = z.enum(['this-change', 'not-this-change', 'flaky']);
export type Blame = z.infer<typeof Blame>;

/**
 * Assigns responsibility from the text of the logs alone. A failure that is neither flaky nor an
 * infrastructure error is blamed on the change.
 */
export function blameByText({
  category,
  kind,
}: {
  readonly category: string | null;
  readonly kind: string | null;
}): Blame {
  if (kind === 'flaky_timing') return 'flaky';
  return category === 'INFRA_ERROR' ? 'not-this-change' : 'this-change';
}

/** Returns the blame that the experiment's runs decided. Returns null if the counts do not support it. */
export function blameByTrying(experiment: Experiment | null | undefined): Blame | null {
  const decided = Blame.safeParse(experiment?.verdict);
  return decided.success && experiment != null && isBorneOut(experiment) ? decided.data : null;
}

/**
 * Returns true if the stated blame matches the truth. "Not this change" is also correct for a flaky failure.
 */
export function isBlameRight(claimed: Blame, truth: Blame): boolean {
  return claimed === truth || (claimed === 'not-this-change' && truth === 'flaky');
}

/**
 * The minimum number of runs, here and on the base, for a conclusion from runs that all ended in the same
 * way.
 */
export const MIN_RUNS = 3;

/**
 * Returns true if the counts support the verdict. A failure is flaky only if it both passed and failed in the
 * same place.
 */
function isBorneOut({ verdict, arms: all }: Pick<Experiment, 'verdict' | 'arms'>): boolean {
  const arms = all.filter(({ under }) => under === undefined);
  const isMixed = ({ passed, failed }: Arm) => passed > 0 && failed > 0;
  const always = (outcome: 'passed' | 'failed', arm: Arm) =>
    arm[outcome] >= MIN_RUNS && arm[outcome] === arm.passed + arm.failed + arm.other;
  const [base] = arms.filter(({ where }) => where === 'base');
  const here = arms.find(({ where, what }) => where === 'here' && what === base?.what);
  switch (verdict) {
    case 'flaky':
      return arms.some(isMixed);
    case 'this-change':
    case 'not-this-change': {
      if (base === undefined || here === undefined || arms.some(isMixed)) return false;
      return always('failed', here) && always(verdict === 'this-change' ? 'passed' : 'failed', base);
    }
    default:
      return true;
  }
}
