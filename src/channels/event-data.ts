import type { Analysis } from '../domain/analysis.ts';
import type { GradedAnswer } from '../domain/outcome.ts';
import type { PublishedEvent } from '../domain/published-event.ts';
import type { Decision } from '../domain/review.ts';
import { clip } from '../notifications/visible-text.ts';

type Event = PublishedEvent['event'];

const MAX_TEXT = 4_000;
const MAX_LINE = 500;

/** Returns the time of an event in ISO 8601: of the decision, of its undoing, or of the build that passed. */
export function getEventTime(event: Event): string {
  if (event.type === 'outcome.graded') return event.graded.mend.green.receivedAt;
  return event.undone?.at ?? event.decision.decidedAt;
}

/**
 * Creates the fields of an event: the answer in short, and the decision or the outcome. Their texts are
 * already masked, but they may quote logs and commits.
 */
export function createEventData({ analysis, event }: Omit<PublishedEvent, 'build'>): object {
  const answer = toAnswerData(analysis);
  if (event.type === 'outcome.graded') return { analysis: answer, outcome: toOutcomeData(event.graded) };
  return { analysis: answer, decision: toDecisionData(event.decision), undone: event.undone };
}

function toAnswerData({ id, category, kind, fingerprint, createdAt, verdict, answer }: Analysis): object {
  const { confidence } = verdict;
  return { id, category, kind, fingerprint, createdAt, confidence, title: cut(answer.title, MAX_LINE) };
}

function toDecisionData(decision: Decision): object {
  const { id, type, reviewer, decidedAt, category, kind, reasonCode } = decision;
  const { rootCause, fixRecommendation, reason } = decision;
  return {
    id,
    type,
    reviewer,
    decidedAt,
    category: category ?? null,
    kind: kind ?? null,
    rootCause: cutOptional(rootCause),
    fixRecommendation: cutOptional(fixRecommendation),
    reasonCode: reasonCode ?? null,
    reason: cutOptional(reason),
  };
}

function toOutcomeData({ mend, grades }: GradedAnswer): object {
  const { kind, red, green, times, files, commits, isRevert, doubt } = mend;
  return {
    endedBy: kind,
    doubt,
    failedBuild: toBuildData(red),
    passedBuild: toBuildData(green),
    failedBuilds: times,
    files: files.map((file) => cut(file, MAX_LINE)),
    commits: commits.map(({ commit, subject }) => ({ commit, subject: cut(subject, MAX_LINE) })),
    isRevert,
    grades: grades.map(({ question, grade, because }) => ({
      question,
      grade,
      because: cut(because, MAX_LINE),
    })),
  };
}

function toBuildData({ id, pipeline, number, attempt, commit, url }: GradedAnswer['mend']['green']): object {
  return { id, pipeline, number, attempt, commit, url };
}

function cutOptional(text: string | undefined): string | null {
  return text === undefined ? null : cut(text, MAX_TEXT);
}

function cut(text: string, limit: number): string {
  return clip(text, limit).toWellFormed();
}
