import { z } from 'zod';
import type { Act, Analysis } from './analysis.ts';
import { ProvingBuild } from './failure-history.ts';

/**
 * The possible answers to "Is it me?", with the words that every output uses: for a fact, for a judgement,
 * and for a reader of the default branch.
 */
export const WHOSE_WORDS = {
  change: {
    sure: 'Yes, new with this change',
    likely: 'Most likely yes, new with this change',
    onDefault: 'New with this commit',
  },
  main: {
    sure: 'No, already red on the default branch',
    likely: 'Most likely no, it was red on the default branch',
    onDefault: 'Already red',
  },
  others: {
    sure: 'No, also on other pull requests',
    likely: 'Most likely no, also on other pull requests',
    onDefault: 'Also on pull requests',
  },
  flaky: { sure: 'No, flaky', likely: 'Most likely no, flaky', onDefault: 'None: it is flaky' },
  machine: {
    sure: 'No, the machine or a service',
    likely: 'Most likely no, the machine or a service',
    onDefault: 'None: the machine or a service',
  },
  environment: {
    sure: 'No, what it runs with changed',
    likely: 'Most likely no, what it runs with changed',
    onDefault: 'None: what it runs with changed',
  },
  unknown: { sure: 'Not known yet', likely: 'Not known yet', onDefault: 'Not known yet' },
} as const;

export const WhoseVerdict = z.enum([
  'change',
  'main',
  'others',
  'flaky',
  'machine',
  'environment',
  'unknown',
]);
export type WhoseVerdict = z.infer<typeof WhoseVerdict>;

/** The proof of a verdict. Names of branches and builds are untrusted text. */
const WhoseProof = z.discriminatedUnion('what', [
  /** The failing command was run again, here and on the base. */
  z.object({ what: z.literal('tried'), sentence: z.string() }),
  /** It passed on the same commit. */
  z.object({ what: z.literal('passed-again'), build: ProvingBuild }),
  z.object({
    what: z.literal('fails-on'),
    branch: z.string(),
    since: ProvingBuild,
    times: z.int().describe('The number of consecutive builds that had it'),
  }),
  z.object({ what: z.literal('failed-on'), branch: z.string(), build: ProvingBuild }),
  z.object({ what: z.literal('pull-requests'), count: z.int() }),
  z.object({ what: z.literal('flakes'), flakes: z.int(), runs: z.int() }),
  /** A run passed with another version. */
  z.object({
    what: z.literal('version'),
    change: z.string(),
    since: z
      .string()
      .nullable()
      .describe('The number of the build that passed; null if only its log is known'),
    isSameCommit: z.boolean().describe('True if both runs built the same commit'),
  }),
  /** Many repositories could not reach one host within minutes. */
  z.object({ what: z.literal('incident'), host: z.string(), repositories: z.int() }),
  /** The answer names a commit, of which is not known whether this build was the first with it. */
  z.object({ what: z.literal('named'), commit: z.string(), author: z.string().nullable() }),
  /** The failing step itself says so. */
  z.object({ what: z.literal('log') }),
  z.object({ what: z.literal('new-test') }),
  /** It passes on the default branch and was not seen elsewhere. */
  z.object({ what: z.literal('passes-on'), branch: z.string(), build: ProvingBuild }),
  /** It passed on this pull request or branch in the build before. */
  z.object({ what: z.literal('passed-before'), build: ProvingBuild }),
]);
export type WhoseProof = z.infer<typeof WhoseProof>;

/** The action that follows from a verdict. */
const WhoseAct = z.discriminatedUnion('what', [
  z.object({ what: z.literal('fix'), path: z.string().nullable(), line: z.int().nullable() }),
  /** `on` is the build of the default branch from which on it passes again. It is null while it fails. */
  z.object({
    what: z.literal('rebase'),
    branch: z.string().nullable(),
    on: ProvingBuild.nullable(),
  }),
  /** Look first at the build with which it began. */
  z.object({ what: z.literal('look'), at: ProvingBuild }),
  z.object({ what: z.literal('rerun') }),
  /** Go back to the version that passed. */
  z.object({ what: z.literal('pin'), advice: z.string() }),
  /** Running it again did not help. */
  z.object({ what: z.literal('ask'), times: z.int() }),
  /** Nothing proves it yet; running it again would show it. */
  z.object({ what: z.literal('try') }),
  /** Nothing proves it yet; it is the author's if the change contains the commit that the answer names. */
  z.object({ what: z.literal('contains') }),
  /** Nothing proves it yet, because no earlier build is known. */
  z.object({ what: z.literal('first') }),
  /** It has passed since. */
  z.object({ what: z.literal('nothing') }),
]);
export type WhoseAct = z.infer<typeof WhoseAct>;

/** The verdict on whose a failure is, its proof, and the action that follows. */
export const Whose = z.object({
  verdict: WhoseVerdict,
  /** True if the build is of the default branch, where the question is "Which change?". */
  isDefault: z.boolean(),
  /** The probability that the verdict is right, if it is a judgement. Null if it is a fact. */
  probability: z.number().nullable(),
  proof: z.array(WhoseProof),
  act: WhoseAct,
});
export type Whose = z.infer<typeof Whose>;

/**
 * Returns advice that agrees with a verdict. It never recommends a rerun for a failure that the change
 * caused, and recommends fixing the default branch if that is red. `act` is the kind of action of the
 * original advice.
 */
export function agreeOnFix(fix: string, act: Act | null | undefined, whose: Whose | null): string {
  if (whose?.verdict === 'change' && act === 'rerun') return '';
  const isTheirs = whose?.verdict === 'main' && !whose.isDefault;
  return isTheirs && act !== 'rerun' && /^[A-Z]/.test(fix) ? `On the default branch: ${fix}` : fix;
}

/** Returns an analysis whose advice agrees with a verdict. */
export function withAgreedFix(analysis: Analysis, whose: Whose | null): Analysis {
  const { fixRecommendation, act } = analysis.answer;
  const fix = agreeOnFix(fixRecommendation, act, whose);
  return { ...analysis, answer: { ...analysis.answer, fixRecommendation: fix } };
}

/** Tells whether a verdict says to the author of a change that the failure is not theirs. */
export function isExcused({ verdict, isDefault }: Pick<Whose, 'verdict' | 'isDefault'>): boolean {
  return !isDefault && verdict !== 'change' && verdict !== 'unknown';
}
