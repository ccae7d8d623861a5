import { isUnread } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import type { ReviewerQuestion } from '../domain/review.ts';
import { isExcused } from '../domain/whose.ts';
import { sumNumbers } from '../lib/collections.ts';
import type { BuildSituation, FailedBefore, Situation } from '../ports/notices.ts';
import { arrangeAnswers } from './build-answers.ts';
import { type CauseStanding, getCauseStanding } from './cause-standing.ts';

/** The content to report about a situation, before a channel formats it. */
export type ToSay =
  | {
      readonly state: 'looking';
      readonly builds: readonly BuildSituation[];
      readonly failures: number;
      readonly question: ReviewerQuestion | null;
      readonly usualMs: number | null;
    }
  | {
      readonly state: 'answered';
      /** The failed builds, the newest first. */
      readonly builds: readonly Build[];
      readonly failures: number;
      /** True if all failures are failed tests. */
      readonly areTests: boolean;
      /**
       * The causes of newer builds first, those of each build in the order in which to fix them. See
       * `byRank`.
       */
      readonly causes: readonly CauseStanding[];
      /** The number of causes that are still analyzed. */
      readonly open: number;
    }
  | {
      readonly state: 'could-not-look';
      readonly builds: readonly Build[];
      readonly causes: readonly CauseStanding[];
      readonly unread: boolean;
      readonly why: string;
    }
  | { readonly state: 'fixed'; readonly fixed: readonly FailedBefore[] };

/** Returns what to report about a situation, or null if nothing has failed. */
export function decideWhatToSay(situation: Situation): ToSay | null {
  const failed = situation.heads.filter(({ build }) => build.status === 'failed');
  if (failed.length === 0) {
    const fixed = situation.heads.flatMap(({ lastFailed }) => (lastFailed === null ? [] : [lastFailed]));
    return fixed.length === 0 ? null : { state: 'fixed', fixed };
  }
  const builds = failed.map(({ build }) => build);
  const causes = failed
    .flatMap(({ causes: found, build }) =>
      arrangeAnswers(found).map((cause) => getCauseStanding(cause, build)),
    )
    .toSorted(compareRank);
  const failures = sumNumbers(failed.map((buildSituation) => buildSituation.failures));
  if (causes.length === 0) return createLooking(failed, failures, situation);
  const open = sumNumbers(
    failed.map((buildSituation) =>
      buildSituation.causes.length === 0 ? Math.max(1, buildSituation.openCauses) : buildSituation.openCauses,
    ),
  );
  if (open === 0 && causes.every(({ form }) => form === 'failed')) return createCouldNotLook(builds, causes);
  const areTests = causes.every(({ cause }) => cause.tests.length > 0) && open === 0;
  return {
    state: 'answered',
    builds,
    failures: Math.max(failures, sumNumbers(causes.map(({ cause }) => cause.failures))),
    areTests,
    causes,
    open,
  };
}

const NOTHING_FOUND = 'no failure was found in its logs';

function createLooking(failed: readonly BuildSituation[], failures: number, { usualMs }: Situation): ToSay {
  const question =
    failed.flatMap((buildSituation) =>
      buildSituation.question === null ? [] : [buildSituation.question],
    )[0] ?? null;
  if (question === null && failed.every(({ job }) => job?.state === 'failed' || job?.state === 'done')) {
    const why = failed.find(({ job }) => job?.state === 'failed')?.job?.error ?? NOTHING_FOUND;
    return {
      state: 'could-not-look',
      builds: failed.map(({ build }) => build),
      causes: [],
      unread: true,
      why,
    };
  }
  return { state: 'looking', builds: failed, failures, question, usualMs };
}

function createCouldNotLook(builds: readonly Build[], causes: readonly CauseStanding[]): ToSay {
  const unread = causes.every(({ cause }) => isUnread(cause.analysis));
  return { state: 'could-not-look', builds, causes, unread, why: causes[0]?.rootCause ?? '' };
}

/**
 * Compares causes by rank. Causes that an experiment attributed to this change come first. Causes that no one
 * has to fix here come last: those that this change did not cause, and those without an explanation.
 */
function compareRank(a: CauseStanding, b: CauseStanding): number {
  return rank(a) - rank(b);
}

function rank({ whose, form, cause }: CauseStanding): number {
  if (cause.analysis.experiment?.verdict === 'this-change' && form !== 'rejected') return -1;
  if (form === 'rejected' || form === 'failed') return 1;
  return isExcused(whose) ? 2 : 0;
}
