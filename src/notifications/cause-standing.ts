import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { type Category, UNSTABLE_KINDS } from '../domain/category.ts';
import type { Experiment } from '../domain/experiment.ts';
import type { Cause, Situation } from '../ports/notices.ts';
import { resolveForm } from './answer-view.ts';
import type { ArrangedAnswer } from './build-answers.ts';

/** The current state of an answer. A person's decision takes precedence over the analysis. Texts are raw. */
export interface CauseStanding {
  readonly cause: ArrangedAnswer<Cause>;
  readonly build: Build;
  readonly category: Category;
  readonly title: string;
  readonly rootCause: string;
  readonly fix: string;
  /**
   * `known`: a person's earlier decision answered; `sure`: the machine is; `unsure`: a person was asked;
   * `confirmed`, `corrected` and `rejected`: a person has said so; `failed`: it could not be looked into.
   */
  readonly form: 'known' | 'sure' | 'unsure' | 'confirmed' | 'corrected' | 'rejected' | 'failed';
  readonly change: ChangeStanding;
  /** True if the author of the change has to do something, as far as is known. */
  readonly needsYou: boolean;
}

/** The relation between the change and the failure, as far as history supports it. */
export interface ChangeStanding {
  readonly verdict: 'not-yours' | 'yours' | null;
  /**
   * The facts of the history, in parts. `name` is untrusted text, to be shown as code. Null if there are
   * none.
   */
  readonly says:
    | { readonly what: 'tried'; readonly sentence: string }
    | { readonly what: 'fails-on'; readonly name: string; readonly since: Build }
    | { readonly what: 'failed-on'; readonly name: string; readonly at: string }
    | { readonly what: 'other-pull-requests'; readonly count: number }
    | { readonly what: 'first-here'; readonly name: string }
    | null;
}

/** The age from which a failure on the default branch excuses no change. */
const EXCUSE_MS = 2 * 24 * 3_600_000;
/** One other pull request may be built on this one. */
const ENOUGH_PULL_REQUESTS = 2;

export function causeStanding(
  cause: ArrangedAnswer<Cause>,
  build: Build,
  situation: Situation,
): CauseStanding {
  const { analysis, review } = cause;
  const { answer } = analysis;
  const decision = review?.decision ?? null;
  const form = formOfCause(analysis, decision?.type ?? null);
  const category =
    decision?.type === 'correct' ? (decision.category ?? analysis.category) : analysis.category;
  const change = changeStanding(cause, build, category, situation.defaultBranch);
  return {
    cause,
    build,
    category,
    title:
      decision?.type === 'correct' && decision.rootCause !== undefined
        ? firstSentence(decision.rootCause)
        : answer.title,
    rootCause: decision?.rootCause ?? answer.rootCause,
    // Advice for another cause does not help, so it is removed when the cause is corrected.
    fix: decision?.fixRecommendation ?? (decision?.type === 'correct' ? '' : answer.fixRecommendation),
    form,
    change,
    needsYou:
      form !== 'unsure' &&
      form !== 'failed' &&
      form !== 'rejected' &&
      change.verdict !== 'not-yours' &&
      (category !== 'INFRA_ERROR' || analysis.experiment?.verdict === 'this-change'),
  };
}

function firstSentence(text: string): string {
  return (text.trim().split('\n', 1)[0] ?? '').split('. ', 1)[0] ?? '';
}

function formOfCause(
  analysis: Analysis,
  decided: 'accept' | 'correct' | 'reject' | null,
): CauseStanding['form'] {
  if (decided !== null)
    return decided === 'accept' ? 'confirmed' : decided === 'correct' ? 'corrected' : 'rejected';
  return analysis.terminationReason === 'failed' ? 'failed' : resolveForm(analysis);
}

const NOTHING: ChangeStanding = { verdict: null, says: null };

/**
 * Judges by history whether the change caused the failure. Never says "not your change" for failures that
 * only look alike, and never "caused by this change" for what a flaky test or an external server may have
 * done. Excusing a real failure as not caused by the change is the worst mistake we can make.
 */
function changeStanding(
  { history, analysis }: Cause,
  build: Build,
  category: Category,
  defaultBranch: string | null,
): ChangeStanding {
  const { experiment } = analysis;
  if (experiment !== undefined) return triedStanding(experiment);
  const { generic, defaultBranch: main, otherPullRequests } = history;
  if (generic || (build.pullRequest === null && (build.branch === null || build.branch === defaultBranch)))
    return NOTHING;
  if (main !== null && main.since !== null)
    return { verdict: 'not-yours', says: { what: 'fails-on', name: main.name, since: main.since } };
  if (main !== null && main.lastSeenAt !== null) {
    const isRecent = Date.parse(build.receivedAt) - Date.parse(main.lastSeenAt) <= EXCUSE_MS;
    return {
      verdict: isRecent ? 'not-yours' : null,
      says: { what: 'failed-on', name: main.name, at: main.lastSeenAt },
    };
  }
  if (otherPullRequests > 0) {
    const verdict = otherPullRequests >= ENOUGH_PULL_REQUESTS ? 'not-yours' : null;
    return { verdict, says: { what: 'other-pull-requests', count: otherPullRequests } };
  }
  if (main?.status !== 'passed' || history.seenElsewhere) return NOTHING;
  const mayBeOthers =
    category === 'INFRA_ERROR' || category === 'DEPENDENCY_ERROR' || UNSTABLE_KINDS.has(analysis.kind);
  return { verdict: mayBeOthers ? null : 'yours', says: { what: 'first-here', name: main.name } };
}

/**
 * Judges by an experiment whether the change caused the failure. An experiment takes precedence over history:
 * it ran the same command on the same machine, with and without the change.
 */
function triedStanding({ verdict, sentence, arms }: Experiment): ChangeStanding {
  const says = { what: 'tried', sentence } as const;
  if (verdict === 'this-change') return { verdict: 'yours', says };
  const isFlakyOnBase =
    verdict === 'flaky' &&
    arms.some(({ where, passed, failed }) => where === 'base' && passed > 0 && failed > 0);
  return { verdict: verdict === 'not-this-change' || isFlakyOnBase ? 'not-yours' : null, says };
}
