import { isNotDevelopersFault } from '../../domain/analysis.ts';
import { TriageError } from '../../domain/errors.ts';
import type { DecisionInput, Review } from '../../domain/review.ts';
import { listSame } from '../../service/review/decide.ts';
import { explainTaught } from '../../service/review/learn.ts';
import { mayTakeOver } from '../../service/review/queue.ts';

import { formatReviewAddress } from '../addresses.ts';
import { type AnswerFacts, readAnswerFacts } from '../answer/facts.ts';
import { writeTexts } from '../answer/texts.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { renderEvidenceWindows } from '../logs/evidence-windows.ts';
import { readQueue } from './queue.ts';
import { formatQuery, type QueueQuery } from './queue-query.ts';
import { findUndoable } from './undoable.ts';

/** The form that is open next to the item. */
type Mode = 'read' | 'correct' | 'reject';

/** The fields that a person typed or chose, to be shown again. Check boxes have lists of values. */
export type Typed = Partial<
  Pick<DecisionInput, 'category' | 'kind' | 'rootCause' | 'fixRecommendation' | 'reason'>
> & {
  readonly evidence?: readonly string[];
  readonly lines?: string;
  readonly none?: boolean;
  readonly same?: boolean;
};

/** The relation of the current reviewer to the item. */
type Hold = 'mine' | 'free' | 'others' | 'decided';

/** The number of queue rows that are listed next to an item. */
const LISTED = 20;

/** All data of an item's page. */
export type ItemView = Awaited<ReturnType<typeof readItem>>;

export interface Looking {
  readonly reviewer: string;
  readonly isAdmin: boolean;
  readonly queue: QueueQuery;
  readonly mode?: Mode;
  readonly stamps?: boolean;
  /** The reader's template of addresses that open a file in their editor. */
  readonly editor?: string;
  /** True if the next press accepts an answer that excuses a change that touches a suspect. */
  readonly armed?: boolean;
  readonly typed?: Typed;
  /** The reason why the input could not be saved. */
  readonly failure?: string;
}

/** Reads all data of an item's page. Throws `not-found` if the analysis or its build was deleted. */
export async function readItem(deps: ConsoleDeps, review: Review, looking: Looking) {
  const { stores, clock } = deps;
  const {
    reviewer,
    isAdmin,
    queue,
    mode = 'read',
    stamps = false,
    editor = '',
    armed = false,
    typed = null,
    failure = null,
  } = looking;
  const analysis = await stores.analyses.find(review.analysisId);
  if (analysis === null)
    throw new TriageError('not-found', `The analysis ${review.analysisId} of this review is not stored.`);
  const hold = getHold(review, reviewer);
  const [facts, same, listed, undo, taught] = await Promise.all([
    readAnswerFacts(deps, analysis),
    hold === 'decided' ? [] : listSame({ stores }, { reviewId: review.id, reviewer }),
    readQueue(deps, { ...queue, offset: 0 }, reviewer, LISTED),
    findUndoable(deps, reviewer),
    review.decision === null ? null : explainTaught(stores, review.decision),
  ]);
  if (facts === null)
    throw new TriageError('not-found', `The build ${analysis.buildId} of this review is not stored.`);
  const texts = writeTexts(facts.analysis);
  const windows = await renderEvidenceWindows(deps, analysis, {
    build: facts.build,
    claims: texts.claims,
    stamps,
    back: `${formatReviewAddress(review.id)}${formatQuery(queue)}`,
  });
  return {
    review,
    facts,
    texts,
    windows,
    listed,
    hold,
    queue,
    undo,
    mode,
    stamps,
    editor,
    typed,
    failure,
    mayTakeOver: hold === 'others' && mayTakeOver(review, isAdmin, clock.now()),
    /** Undecided items that the same decision may settle. */
    same,
    /** The number of waiting items, for "item 7 of 42" if the address does not contain it. */
    waiting: listed.counts.waiting,
    armed: armed && mustArm(facts),
    /**
     * A sentence about the library entry of the current decision, or the reason why there is none. Null if
     * there is no decision.
     */
    taught,
    /** True if the current reviewer may undo the current decision. */
    mayUndo: review.decision !== null && (isAdmin || review.decision.reviewer === reviewer),
  };
}

export function getHold({ state, claimedBy, decision }: Review, reviewer: string): Hold {
  if (state === 'decided' || decision !== null) return 'decided';
  if (state === 'claimed') return claimedBy === reviewer ? 'mine' : 'others';
  return 'free';
}

/**
 * Checks whether accepting needs a second press: the answer is "not your fault", but the change touches a
 * suspect.
 */
export function mustArm({ analysis, overlap }: Pick<AnswerFacts, 'analysis' | 'overlap'>): boolean {
  return isNotDevelopersFault(analysis) && overlap.length > 0;
}
