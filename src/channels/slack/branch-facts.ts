import type { Build } from '../../domain/build.ts';
import { nameCategory } from '../../domain/category-words.ts';
import type { Decision } from '../../domain/review.ts';
import { type AnswerFact, answerView } from '../../notifications/answer-view.ts';
import { type ArrangedAnswer, arrangeAnswers } from '../../notifications/build-answers.ts';
import { getCauseStanding } from '../../notifications/cause-standing.ts';
import { formatWhoseSentence } from '../../notifications/whose-line.ts';
import type { BuildSituation, Cause, Situation } from '../../ports/notices.ts';

/**
 * The data from which the message of a branch is created. It is plain data, and equal if there is nothing new
 * to say.
 */
export type SlackFacts = RedFacts | GreenFacts;

/** The fields of a build that a message names. */
export type NamedBuild = Pick<Build, 'id' | 'repository' | 'pipeline' | 'number' | 'url'> & {
  readonly branch: string;
};

export interface RedFacts {
  readonly state: 'red';
  readonly build: NamedBuild;
  /** The facts of each cause, in the order in which to fix them. */
  readonly causes: readonly CauseFacts[];
  /** The reason why there are no causes; null if there are some. */
  readonly notLooked: string | null;
}

export interface GreenFacts {
  readonly state: 'green';
  /** The newest build that failed before it. */
  readonly build: NamedBuild;
  readonly fixedAt: string;
  readonly causes: readonly CauseFacts[];
}

export interface CauseFacts {
  readonly analysisId: string;
  readonly reviewId: string | null;
  readonly fingerprint: string;
  readonly title: string;
  readonly category: string;
  /** "91 %", or a person's earlier decision about the cause. */
  readonly howSure: string;
  readonly isSure: boolean;
  readonly failures: number;
  /** True if all failures are failed tests. */
  readonly areTests: boolean;
  /**
   * The verdict on whose the failure is, with its proof and act, as a sentence. Empty if the branch is green.
   */
  readonly whose: string;
  /** The facts shown below the title. */
  readonly facts: readonly AnswerFact[];
  /** A person's decision about this answer. */
  readonly decision: {
    readonly type: Decision['type'];
    readonly by: string;
    readonly at: string;
    readonly category: string;
  } | null;
}

/**
 * Returns the facts about a branch whose newest build is known. Returns null if there is nothing to say: the
 * branch is still being analyzed, it has not failed lately, or all its causes are muted.
 */
export function findSlackFacts({ heads }: Situation): SlackFacts | null {
  const [head] = heads;
  if (head === undefined) return null;
  if (head.build.status === 'failed') return toRedFacts(head);
  return head.build.status === 'passed' ? toGreenFacts(head) : null;
}

function toRedFacts({ build, job, causes, failures, question }: BuildSituation): RedFacts | null {
  const named = toNamedBuild(build);
  const ended = job === null || job.state === 'done' || job.state === 'failed';
  // The triage waits for the answer of a person.
  const waits = causes.length === 0 && question !== null;
  if (named === null || !ended || waits) return null;
  const alerting = causes.filter(({ isMuted }) => !isMuted);
  if (causes.length > 0 && alerting.length === 0) return null;
  const listed = arrangeAnswers(alerting).map((cause) => toCauseFacts(cause, build));
  const why = job?.error ?? (failures === 0 ? 'no failure was found in its logs' : 'no answer was produced');
  return { state: 'red', build: named, causes: listed, notLooked: listed.length === 0 ? why : null };
}

function toGreenFacts({ lastFailed }: BuildSituation): GreenFacts | null {
  const named = lastFailed === null ? null : toNamedBuild(lastFailed.build);
  if (lastFailed === null || named === null) return null;
  const { fixedBy, causes } = lastFailed;
  return {
    state: 'green',
    build: named,
    fixedAt: fixedBy.finishedAt ?? fixedBy.receivedAt,
    causes: causes.map(({ id, category, answer }) => ({
      analysisId: id,
      reviewId: null,
      fingerprint: '',
      title: answer.title,
      category: nameCategory(category),
      howSure: '',
      isSure: true,
      failures: 0,
      areTests: false,
      whose: '',
      facts: [],
      decision: null,
    })),
  };
}

function toCauseFacts(cause: ArrangedAnswer<Cause>, build: Build): CauseFacts {
  const { analysis, explains, failures, review } = cause;
  const decision = review?.decision ?? null;
  const fix =
    (decision?.type === 'correct' ? decision.fixRecommendation : undefined) ??
    analysis.answer.fixRecommendation;
  const { form, confirmed, confidence, facts } = answerView(
    { ...analysis, answer: { ...analysis.answer, fixRecommendation: fix } },
    undefined,
    explains,
  );
  return {
    analysisId: analysis.id,
    reviewId: review?.id ?? null,
    fingerprint: analysis.fingerprint,
    title: analysis.answer.title,
    category: nameCategory(
      decision?.type === 'correct' ? (decision.category ?? analysis.category) : analysis.category,
    ),
    howSure: confirmed ?? confidence,
    isSure: form !== 'unsure',
    failures,
    areTests: explains.areTests,
    whose: formatWhoseSentence(getCauseStanding(cause, build).whose),
    // The title already names the cause.
    facts: facts.filter(({ name, reach }) => reach === 'everywhere' && name !== 'Cause'),
    decision:
      decision === null
        ? null
        : {
            type: decision.type,
            by: decision.reviewer,
            at: decision.decidedAt,
            category: nameCategory(decision.category ?? analysis.category),
          },
  };
}

function toNamedBuild({ id, repository, pipeline, number, url, branch }: Build): NamedBuild | null {
  return branch === null ? null : { id, repository, pipeline, number, url, branch };
}
