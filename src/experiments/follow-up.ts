import { shortenCommit } from '../domain/build.ts';
import { getErrorMessage } from '../domain/errors.ts';
import type { Experiment } from '../domain/experiment.ts';
import { describeExperiment } from '../domain/experiment-facts.ts';
import { bisect } from './bisect.ts';
import type { ConfirmDeps, ConfirmOptions } from './confirm.ts';
import type { FixRule } from './fix-rules.ts';
import { SHOWN } from './outcome.ts';
import { type Proposal, tryFix } from './try-fix.ts';

/** The steps after a failure is confirmed, in the time that is left. */
export interface FollowUps {
  /** The range of the search for the commit that broke it. Null for no search. */
  readonly bisect: {
    /** The good commit. Null for the base with which it was compared. */ readonly good: string | null;
    readonly bad: string;
  } | null;
  /** The changes to try. Null for none. */
  readonly fix: {
    readonly proposals: readonly Proposal[];
    readonly rules: readonly FixRule[];
    /** True to show the change that fixes it in the pull request. */
    readonly suggest: boolean;
  } | null;
}

const MIN_MS = 5_000;
const RUNS = 3;

/**
 * Searches for the commit that broke a command, and tries changes, if its failure recurred each time. The
 * findings become part of the experiment. Steps that fail or lack time become notes. Throws only `cancelled`,
 * if partial results are not kept.
 */
export async function followUp(
  experiment: Experiment,
  { bisect: search, fix }: FollowUps,
  options: ConfirmOptions & { /** A time on the clock of the process. */ readonly until: number },
  { read }: Pick<ConfirmDeps, 'read'>,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<Experiment> {
  const { until, ...command } = options;
  const steps: [string, (limitMs: number) => Promise<Partial<Experiment>>][] = [];
  const good = search?.good ?? experiment.arms.find(({ where }) => where === 'base')?.commit ?? undefined;
  const isSearched =
    experiment.verdict === 'this-change' || (search?.good !== null && isReproduced(experiment));
  if (search !== null && isSearched) {
    const onRun = (commit: { id: string }, outcome: keyof typeof SHOWN) =>
      say(`${shortenCommit(commit.id)}: ${SHOWN[outcome]}`);
    steps.push([
      'bisect',
      async (limitMs) => {
        const bisection = await bisect(
          { ...command, good, bad: search.bad, runs: RUNS, limitMs },
          { read, onRun },
          signal,
        );
        return { bisection };
      },
    ]);
  }
  if (fix !== null && isReproduced(experiment)) {
    const { suggest, ...changes } = fix;
    const onRun = (source: string | null, outcome: keyof typeof SHOWN) =>
      say(`${source ?? 'without a change'}: ${SHOWN[outcome]}`);
    const allowed = { tests: false, workflows: false };
    steps.push([
      'try-fix',
      async (limitMs) => {
        const fixes = await tryFix(
          { ...command, ...changes, allowed, check: null, runs: RUNS, limitMs },
          { read, onRun },
          signal,
        );
        return { fixes: { ...fixes, suggest } };
      },
    ]);
  }
  let found = experiment;
  for (const [name, step] of steps) {
    const left = until - performance.now();
    if (signal.aborted || left < MIN_MS) {
      found = { ...found, notes: [...found.notes, `There was no time left for ${name}.`] };
      continue;
    }
    try {
      found = { ...found, ...(await step(left)) };
    } catch (error) {
      if (signal.aborted && options.keepsPart !== true) throw error;
      found = { ...found, notes: [...found.notes, `${name}: ${getErrorMessage(error)}`] };
    }
  }
  return { ...found, sentence: describeExperiment(found) };
}

function isReproduced({ verdict }: Experiment): boolean {
  return verdict === 'this-change' || verdict === 'not-this-change' || verdict === 'reproduced';
}
