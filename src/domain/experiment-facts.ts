import { describeBisection } from './bisection.ts';
import { findDependenceArms } from './conditions.ts';
import { type Bisection, Experiment, type FixTrial } from './experiment.ts';
import { dependsOnSuite, failsAfterOthers, judgeRuns } from './experiment-verdict.ts';
import { refuseFix } from './fix-refusals.ts';
import { describeAttempt, describeTrial, judgeAttempt, judgeTrial } from './fix-verdict.ts';
import { doubtArms, doubtBisection, doubtTrial } from './impossible-runs.ts';

/**
 * Describes the result of an experiment. The text contains only counts and commits, never text that a person
 * wrote.
 */
export function describeExperiment(experiment: Experiment): string {
  const parts = [judgeRuns(experiment).sentence, experiment.bisection?.sentence, experiment.fixes?.sentence];
  return parts.filter((part) => part !== undefined && part !== '').join(' ');
}

/**
 * Returns the facts of an uploaded experiment that its runs support. Derives verdicts and sentences again;
 * removes prose, and a bisection or fix without the runs for it. Names of tests, files and commits stay as
 * untrusted text. The operation is idempotent.
 */
export function removeProse(experiment: Experiment): Experiment {
  const { command, narrowed, tests, bisection, fixes } = experiment;
  const arms = doubtArms(experiment.arms).length === 0 ? experiment.arms : [];
  const dependsOnOthers =
    experiment.dependsOnOthers === true ? dependsOnSuite(arms) : experiment.dependsOnOthers;
  const polluters = dependsOnOthers === true && failsAfterOthers(arms) ? experiment.polluters : [];
  const dependsOn =
    findDependenceArms(arms, experiment.dependsOn) === null ? undefined : experiment.dependsOn;
  const facts = {
    command,
    narrowed,
    tests,
    arms,
    dependsOnOthers,
    polluters,
    ...(dependsOn === undefined ? {} : { dependsOn }),
  };
  const kept: Experiment = {
    ...facts,
    ...judgeRuns(facts),
    notes: [],
    excerpt: null,
    ...(bisection === undefined || doubtBisection(bisection).length > 0
      ? {}
      : { bisection: keepBisection(bisection) }),
    ...(fixes === undefined || doubtTrial(fixes).length > 0 ? {} : { fixes: keepTrial(fixes) }),
  };
  return { ...kept, sentence: describeExperiment(kept) };
}

/** An experiment as it is stored and shown. */
export const ProseFreeExperiment = Experiment.overwrite(removeProse);

function keepBisection(bisection: Bisection): Bisection {
  const skipped = bisection.skipped.map((point) => ({ ...point, why: '' }));
  const kept = { ...bisection, skipped, notes: [] };
  return { ...kept, sentence: describeBisection(kept) };
}

function keepTrial(trial: FixTrial): FixTrial {
  const attempts = trial.attempts.map(({ refused: _refused, ...attempt }) => {
    const verdict = attempt.verdict === 'refused' ? 'refused' : judgeAttempt(attempt, trial);
    const isShown =
      verdict === 'fixed' && attempt.diff !== null && refuseFix(attempt.diff, NOTHING).length === 0;
    const sentence = verdict === 'refused' ? 'Not tried.' : describeAttempt(attempt, trial);
    return { ...attempt, source: '', verdict, diff: isShown ? attempt.diff : null, sentence };
  });
  const kept = { ...trial, attempts, branch: null, notes: [] };
  return { ...kept, verdict: judgeTrial(kept), sentence: describeTrial(kept) };
}

const NOTHING = { tests: false, workflows: false };
