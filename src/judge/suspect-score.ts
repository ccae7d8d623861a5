/**
 * What speaks for a file beside the log. Each weight is the share of the remaining doubt that a signal takes away: signals are taken for
 * independent, so the score is 1 − (1 − log) · Π (1 − weight · strength). They are judged, not fitted: no set of failures with the
 * repositories and their histories was at hand; the order they give is tested signal by signal.
 */
export const WEIGHTS = {
  /** The file changed since the last green build. Shared among the files that did. */
  changedSinceGreen: 0.5,
  /** The built commit changed it, and nobody knows whether it worked before. */
  changedInCommit: 0.25,
  /** The very lines that the trace or the compiler names changed since then. */
  changedLines: 0.6,
  /** The named line was last changed just before the build. */
  recentBlame: 0.3,
  /** The file was changed when the same failure was mended before, or a person's fix for it names the file. */
  mendedBefore: 0.35,
  /** The failing test imports it. */
  imported: 0.15,
} as const;

/** What nothing changed in worked before: where the list of changed files is whole, a file that is not in it keeps this much. */
export const UNCHANGED = 0.8;
/** Up to so many changed files each is fully suspect; beyond, suspicion thins out with the fourth root, since few of many are at fault. */
const FEW_FILES = 5;
/** Days after which a change is half as suspicious. */
const HALF_LIFE_DAYS = 14;
const MOST = 0.99;

/** What is known of one file. */
export interface SuspectSignals {
  /** 0..1: how the log speaks for it (own frames, deepest cause, twin of the test, diagnostics); 0 where it does not name it. */
  readonly log: number;
  /** Null where nobody knows what changed since the last green build, or the list is not whole and does not name the file. */
  readonly changedSinceGreen: boolean | null;
  /** False where only the built commit's own change is known: it may as well have failed before. */
  readonly sinceGreen: boolean;
  /** How many files changed since then. */
  readonly changedFiles: number;
  readonly changedLines: boolean;
  /** Age of the last change to the named line at the time of the build, in days; null where nobody looked. */
  readonly blameDays: number | null;
  readonly mendedBefore: boolean;
  readonly imported: boolean;
  /** True where the same failure was seen where this change is not: then what changed says little. */
  readonly seenElsewhere: boolean;
}

/** How suspicious a file is, 0..0.99, rounded to hundredths. */
export function suspectScore(signals: SuspectSignals): number {
  const trust = signals.seenElsewhere ? 0.2 : 1;
  const thinned = Math.min(1, (FEW_FILES / Math.max(1, signals.changedFiles)) ** 0.25);
  const doubts = [
    1 - signals.log,
    1 -
      (signals.changedSinceGreen === true
        ? (signals.sinceGreen ? WEIGHTS.changedSinceGreen : WEIGHTS.changedInCommit) * thinned * trust
        : 0),
    1 - (signals.changedLines ? WEIGHTS.changedLines * trust : 0),
    1 - WEIGHTS.recentBlame * freshness(signals.blameDays) * trust,
    1 - (signals.mendedBefore ? WEIGHTS.mendedBefore : 0),
    1 - (signals.imported ? WEIGHTS.imported : 0),
  ];
  const score = 1 - doubts.reduce((left, doubt) => left * doubt, 1);
  const kept = signals.changedSinceGreen === false && !signals.seenElsewhere ? UNCHANGED * score : score;
  return Math.round(Math.min(MOST, Math.max(0, kept)) * 100) / 100;
}

function freshness(days: number | null): number {
  return days === null ? 0 : 0.5 ** (Math.max(0, days) / HALF_LIFE_DAYS);
}
