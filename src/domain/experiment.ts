import { z } from 'zod';

const MOST_TEXTS = 2_000;
const line = z.string().max(4_000);
const lines = z.array(line).max(MOST_TEXTS);
/** Of each run, in order. Null: it was ended by a signal or the time limit. */
const exitCodes = z.array(z.int().nullable());
/** Prose for whoever ran it. The service never shows what was sent: it derives its own from the counts. */
const prose = line.default('').describe('Ignored in a report: derived from the counts');
const notes = lines.default([]).describe('Ignored in a report');

/** How one way of running the command went, in counts of runs. */
export const Arm = z.object({
  where: z.enum(['here', 'base']),
  /** `suite`: the whole command; `alone`: only the failing tests; `after`: one failing test behind the tests that it depends on. */
  what: z.enum(['suite', 'alone', 'after']),
  /** The commit of the base; null for the checkout, which may have changes of its own. */
  commit: z.string().max(100).nullable(),
  /** The condition under which it was run, such as `--seed=3`; absent: as it is. */
  under: line.optional(),
  passed: z.int(),
  /** Failed as the first run did: the same tests, or the same message. */
  failed: z.int(),
  /** Failed otherwise: it says nothing about this failure. */
  other: z.int(),
  /** Passes that a cache answered: they are no runs, and count nowhere else. */
  cached: z.int().optional(),
  exitCodes,
  milliseconds: z.array(z.int()),
});
export type Arm = z.infer<typeof Arm>;

/** Place of a commit among those that are searched: 0 is the good one. Absent in bisections of old senders. */
const at = z.int().optional();

/** Which commit between a good and a bad one broke a command, found by running it at some of them. */
export const Bisection = z.object({
  command: lines,
  narrowed: lines.nullable(),
  tests: lines,
  /** Commits after the good one, up to and with the bad one. */
  commits: z.int(),
  /** Runs at each commit that was tried, oldest first. */
  tried: z.array(
    z.object({ commit: line, at, passed: z.int(), failed: z.int(), other: z.int().default(0), exitCodes: exitCodes.default([]) }),
  ),
  /** Commits at which the command could not be tried, and why. */
  skipped: z.array(z.object({ commit: line, at, why: prose })),
  /** `part`: some of the commits were tried, for others to be added. */
  verdict: z.enum(['found', 'one-of', 'before', 'not-reproduced', 'inconclusive', 'part']),
  /** One where it was found; several where those between them could not be tried or the runs do not tell them apart; oldest first. */
  candidates: z.array(z.object({ commit: line, author: line, subject: line })).max(5_001),
  /** Probability that one of the candidates broke it, 0..1. */
  confidence: z.number(),
  sentence: prose,
  notes,
});
export type Bisection = z.infer<typeof Bisection>;

/** A proposed change that was tried in a worktree, and what came of it. */
export const FixAttempt = z.object({
  /** The diff's file, or the rule with its command. */
  source: prose,
  files: lines,
  added: z.int(),
  deleted: z.int(),
  /** `breaks`: the failing tests pass with it, and others fail that did not before. `refused`: it was not run. */
  verdict: z.enum(['fixed', 'breaks', 'not-fixed', 'inconclusive', 'refused']),
  /** Why it was not run. */
  refused: prose.optional(),
  /** Runs of the failing tests with it. */
  passed: z.int(),
  failed: z.int(),
  other: z.int().default(0),
  exitCodes: exitCodes.default([]),
  /** Whether the tool's own report shows that the tests that failed ran and passed; absent where it was not asked. */
  reported: z.boolean().optional(),
  /** Of the wider check with it; empty where that was not run. */
  checkExitCodes: exitCodes.default([]),
  /** Tests, or the whole check where it names none, that fail with it and did not before. */
  broke: lines,
  /** The change itself, where it is short enough. */
  diff: z.string().max(20_000).nullable(),
  sentence: prose,
});
export type FixAttempt = z.infer<typeof FixAttempt>;

/** Proposed changes, tried one after the other until one of them fixes a failing command. */
export const FixTrial = z.object({
  command: lines,
  narrowed: lines.nullable(),
  tests: lines,
  /** The wider check that says what else broke. */
  check: lines,
  /** Runs of the failing tests without a change. */
  before: z.object({ passed: z.int(), failed: z.int(), exitCodes: exitCodes.default([]) }),
  /** Of the wider check without a change; empty where that was not run. */
  checkExitCodes: exitCodes.default([]),
  verdict: z.enum(['fixed', 'not-fixed', 'not-reproduced']),
  attempts: z.array(FixAttempt).max(20),
  /** The local branch that was made of the change that fixes it. */
  branch: z.string().nullable(),
  /** Whoever had it tried wants the change that fixes it shown in the pull request. */
  suggest: z.boolean().optional(),
  sentence: prose,
  notes,
});
export type FixTrial = z.infer<typeof FixTrial>;

export const VERDICTS = ['this-change', 'not-this-change', 'flaky', 'reproduced', 'not-reproduced', 'inconclusive'] as const;

/** What a run may depend on besides the code, in the order in which it is tried. */
export const CONDITIONS = ['seed', 'time zone', 'time', 'network'] as const;
export type ConditionKind = (typeof CONDITIONS)[number];

/** A failing command, tried again: what was run, how it went, and what follows. */
export const Experiment = z.object({
  /** The argument vector that was run; `narrowed` to the failing tests where its tool can. */
  command: lines,
  narrowed: lines.nullable(),
  /** Names of the tests that fail. */
  tests: lines,
  arms: z.array(Arm).max(20),
  verdict: z.enum(VERDICTS),
  /** Whether the failing tests pass by themselves and fail in the suite; null where that was not tried. */
  dependsOnOthers: z.boolean().nullable(),
  /** The fewest tests behind which a failing test fails; empty where none were searched for or found. */
  polluters: lines,
  /** What the failure depends on besides the code, where that was found. */
  dependsOn: z.enum(CONDITIONS).optional(),
  /** The search for the commit that broke it, and changes that were tried to fix it, where these were asked for. */
  bisection: Bisection.optional(),
  fixes: FixTrial.optional(),
  /** What the counts say, in sentences. */
  sentence: prose,
  notes,
  /** What the log of the first run that failed says of it, masked; null where nothing did. The service does not keep it. */
  excerpt: line.nullable().default(null),
});
export type Experiment = z.infer<typeof Experiment>;

/** The change to be shown in the pull request: one that fixes the failure, was asked for and is short enough; null where there is none. */
export function suggestedFix(experiment: Experiment | undefined): (FixAttempt & { readonly diff: string }) | null {
  const { suggest, attempts = [] } = experiment?.fixes ?? {};
  const fixed = suggest === true ? attempts.find(({ verdict }) => verdict === 'fixed') : undefined;
  return fixed === undefined || fixed.diff === null ? null : { ...fixed, diff: fixed.diff };
}

/** Whose fault a failure is. */
export const Blame = z.enum(['this-change', 'not-this-change', 'flaky']);
export type Blame = z.infer<typeof Blame>;

/** By the text of the logs alone: whatever it calls neither flaky nor the machine's fault, it lays on the change. */
export function blameByText({ category, kind }: { readonly category: string | null; readonly kind: string | null }): Blame {
  if (kind === 'flaky_timing') return 'flaky';
  return category === 'INFRA_ERROR' ? 'not-this-change' : 'this-change';
}

/** What trying has decided, where its counts support that; null where it has not. */
export function blameByTrying(experiment: Experiment | null | undefined): Blame | null {
  const decided = Blame.safeParse(experiment?.verdict);
  return decided.success && experiment != null && isBorneOut(experiment) ? decided.data : null;
}

/** Whether what was said is true; a flaky failure is not the change's either. */
export function isBlameRight(said: Blame, truth: Blame): boolean {
  return said === truth || (said === 'not-this-change' && truth === 'flaky');
}

/** Runs here, and on the base, below which nothing is concluded from all of them going the same way. */
export const MIN_RUNS = 3;

/** Whether the counts are enough for the verdict; only a pass and a failure in one place make a failure flaky. */
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
