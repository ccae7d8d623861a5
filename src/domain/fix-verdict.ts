import { formatCount } from '../lib/text.ts';
import { type FixAttempt, type FixTrial, MIN_RUNS } from './experiment.ts';

type Runs = Pick<
  FixAttempt,
  'passed' | 'failed' | 'other' | 'exitCodes' | 'reported' | 'checkExitCodes' | 'broke'
>;
/** The results of the runs without a change. */
type Before = Pick<FixTrial, 'before' | 'checkExitCodes' | 'tests'>;

/**
 * Returns true if the failing tests always fail without the change and always pass with it, in at least
 * `MIN_RUNS` runs each.
 */
export function isFixed(before: FixTrial['before'], { passed, failed, other }: Runs): boolean {
  return failed + other === 0 && before.passed === 0 && Math.min(before.failed, passed) >= MIN_RUNS;
}

/**
 * Returns true if test reports, and not only an exit code, show that the failed tests pass with the change. A
 * command without named tests is judged by its exit code.
 */
function isReported({ reported }: Runs, { tests }: Before): boolean {
  return tests.length === 0 || reported === true;
}

/**
 * Judges a change that was tried, only by its runs. A change does not fix the failure unless everything was
 * checked.
 */
export function judgeAttempt(attempt: Runs, whole: Before): FixAttempt['verdict'] {
  const { before, checkExitCodes } = whole;
  if (attempt.exitCodes.length === 0) return 'inconclusive';
  if (attempt.failed + attempt.other > 0) return 'not-fixed';
  if (!isFixed(before, attempt) || !isReported(attempt, whole)) return 'inconclusive';
  if (attempt.broke.length > 0) return 'breaks';
  const [after] = attempt.checkExitCodes;
  const [first] = checkExitCodes;
  return after === 0 || (after !== undefined && first !== undefined && first !== 0)
    ? 'fixed'
    : 'inconclusive';
}

/** Describes the result of one change. The text contains only counts, never text that a person wrote. */
export function describeAttempt(attempt: Runs, before: Before): string {
  const words = attemptWords(attempt, before);
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}

function attemptWords(attempt: Runs, whole: Before): string {
  const { before } = whole;
  const { passed, failed, other, broke } = attempt;
  const runs = passed + failed + other;
  const counts = `fails ${failed + other} of ${runs} with it, ${before.failed} of ${before.failed + before.passed} without it`;
  switch (judgeAttempt(attempt, whole)) {
    case 'not-fixed':
      return failed > 0 ? `${counts}, so it does not fix it` : `${counts}, now in another way`;
    case 'breaks':
      return (
        `${counts}, but it ` +
        `breaks ${formatCount(broke.length, 'other test or check', 'other tests or checks')}`
      );
    case 'fixed':
      return `${counts}, and ${attempt.checkExitCodes[0] === 0 ? 'the wider check passes' : 'the wider check fails as before'}`;
    default:
      if (before.passed > 0) return `${counts}, which proves nothing of what fails at random`;
      if (!isFixed(before, attempt)) return `${counts}, which are too few runs`;
      return isReported(attempt, whole)
        ? `${counts}, but the wider check was not run`
        : `${counts}, but no report of the tool shows that the failing tests ran and passed`;
  }
}

type Trial = Before & Pick<FixTrial, 'attempts'>;

/** Judges all changes that were tried, only by their runs. */
export function judgeTrial({ before, attempts }: Pick<FixTrial, 'before' | 'attempts'>): FixTrial['verdict'] {
  if (before.failed === 0) return 'not-reproduced';
  return attempts.some(({ verdict }) => verdict === 'fixed') ? 'fixed' : 'not-fixed';
}

/** Describes the result of all changes. The text contains only counts, never text that a person wrote. */
export function describeTrial(trial: Trial): string {
  const { attempts } = trial;
  const verdict = judgeTrial(trial);
  const fixed = attempts.find((attempt) => attempt.verdict === 'fixed');
  if (verdict === 'not-reproduced') return 'The command does not fail in the state that was to be fixed.';
  if (fixed !== undefined) return `Fixed: ${attemptWords(fixed, trial)}.`;
  if (attempts.length === 0)
    return 'There was no change to try: name one with --patch, or use a project whose tools make one.';
  const refused = attempts.filter((attempt) => attempt.verdict === 'refused').length;
  return `Not fixed: ${formatCount(attempts.length - refused, 'change')} tried, ${refused} refused.`;
}
