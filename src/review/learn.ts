import type { Analysis } from '../domain/analysis.ts';
import { KIND_CATEGORY, type Kind } from '../domain/category.ts';
import type { Failure } from '../domain/failure.ts';
import { newId } from '../domain/ids.ts';
import type { LibraryEntry } from '../domain/library.ts';
import type { Decision } from '../domain/review.ts';
import { tellingLines } from '../log/green/stands-in.ts';
import { likenessOf, likenessText } from '../log/recognise/likeness.ts';

/** What a decision teaches, and a sentence for the reviewer about it. */
export interface Lesson {
  readonly entry: LibraryEntry | null;
  readonly teaching: string;
}

export interface LessonFacts {
  readonly decision: Decision;
  readonly analysis: Analysis;
  readonly repository: string;
  /** The failures that the analysis is about. */
  readonly failures: readonly Failure[];
  /** The entry that answered for this fingerprint in this repository so far. */
  readonly previous: LibraryEntry | null;
}

const MAX_MESSAGE = 4000;
const MAX_TITLE = 120;

/**
 * Accept teaches the machine's answer, correct the person's words, reject nothing. A generic failure ("exit code 1") teaches
 * nothing either: whatever fails next would be taken for it; nor does a failed analysis whose cause nobody named.
 */
export function lessonOf(facts: LessonFacts): Lesson {
  if (facts.decision.type === 'reject') return { entry: null, teaching: 'Rejected. A rejection does not change the library.' };
  if (namesNoCause(facts)) {
    return {
      entry: null,
      teaching: 'Not added to the library: the analysis failed, so there is no cause to store. Correct the cause to add one.',
    };
  }
  const failure = facts.failures.find(({ excerpt }) => excerpt !== null) ?? facts.failures[0];
  if (failure === undefined)
    return { entry: null, teaching: 'Not added to the library: the failures of this analysis are no longer stored.' };
  if (failure.generic) {
    return { entry: null, teaching: 'Not added to the library: this failure is too general to be recognized again.' };
  }
  const entry = entryOf(facts, failure);
  const replaces =
    facts.previous === null
      ? ''
      : ` It replaces the answer that ${facts.previous.confirmedBy} confirmed on ${facts.previous.confirmedAt.slice(0, 10)}.`;
  return {
    entry,
    teaching: `Added to the library: the next failure with this fingerprint in this repository gets this answer at once.${replaces}`,
  };
}

/** A failed analysis gives the error that stopped it as its cause. */
function namesNoCause({ decision, analysis }: LessonFacts): boolean {
  if (analysis.terminationReason !== 'failed') return false;
  return decision.rootCause === undefined || decision.rootCause.trim() === analysis.answer.rootCause.trim();
}

function entryOf({ decision, analysis, repository, previous }: LessonFacts, failure: Failure): LibraryEntry {
  const { answer } = analysis;
  const category = decision.category ?? analysis.category;
  const rootCause = decision.rootCause ?? answer.rootCause;
  return {
    id: newId('lib', Date.parse(decision.decidedAt)),
    fingerprint: failure.fingerprint,
    message: likenessText(likenessOf(failure)) || failure.message.slice(0, MAX_MESSAGE),
    repository,
    category,
    kind: decision.kind ?? keptKind(analysis, category),
    title: rootCause.trim() === answer.rootCause.trim() ? answer.title : titleFrom(rootCause),
    rootCause,
    fixRecommendation: decision.fixRecommendation ?? answer.fixRecommendation,
    analysisId: analysis.id,
    confirmedBy: decision.reviewer,
    confirmedAt: decision.decidedAt,
    timesSeen: sightings(analysis, previous),
    lastSeenAt: previous !== null && previous.lastSeenAt > analysis.createdAt ? previous.lastSeenAt : analysis.createdAt,
    decisionId: decision.id,
    telling: tellingLines(failure),
    withdrawn: null,
    flag: null,
    stays: null,
  };
}

/** The machine's kind goes with its category; under another one it would mislead, unless it usually belongs there. */
function keptKind(analysis: Analysis, category: Analysis['category']): Kind {
  return analysis.category === category || KIND_CATEGORY[analysis.kind] === category ? analysis.kind : 'unknown';
}

/** The machine's title speaks of its own cause; a corrected cause is titled by its first sentence. */
export function titleFrom(rootCause: string): string {
  const [line = ''] = rootCause.trim().split('\n');
  const sentence = /^.+?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
  const characters = Array.from(sentence.replace(/\.$/, '').trim());
  return characters.length <= MAX_TITLE ? characters.join('') : `${characters.slice(0, MAX_TITLE - 1).join('')}…`;
}

/** A recalled analysis was counted when it was recalled. */
function sightings(analysis: Analysis, previous: LibraryEntry | null): number {
  if (previous === null) return 1;
  return previous.timesSeen + (analysis.recalled === null ? 1 : 0);
}
