import { createMemoryCheckpointer } from '../../graphs/memory-checkpointer.ts';
import type { ReviewerQuestion } from '../domain/review.ts';
import type { Clock } from '../lib/time.ts';
import type { Person, ReviewerClient } from '../ports/toolbox.ts';

/** The additional time of a run that may wait for a person, in milliseconds. */
const WAIT_MS = 10 * 60_000;

interface AtHand {
  /** Undefined if there is no person to ask. */
  readonly person: Person | undefined;
  readonly mask: (text: string) => Promise<string>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Asks the person at the keyboard what a service would ask its review queue: one question per run, put once
 * the run waits for its answer.
 */
export function createPersonAtHand({ person, mask, clock, signal }: AtHand) {
  if (person === undefined) return { reviewers: undefined, parts: {}, checkpointer: undefined, waitMs: 0 };
  /** The question of each run. */
  const asked = new Map<string, string>();
  const reviewers: ReviewerClient = {
    ask: async ({ subject: { triageId }, text }) => {
      const first = asked.get(triageId) ?? text;
      asked.set(triageId, first);
      return { id: triageId, text: first };
    },
  };
  const findByTriage = async (triageId: string): Promise<Answered | null> => {
    const question = asked.get(triageId);
    const answer = question === undefined ? null : await person.ask(question, signal);
    if (answer === null || answer.trim() === '') return null;
    const answeredAt = new Date(clock.now()).toISOString();
    return { state: 'answered', answer: await mask(answer.trim()), answeredBy: 'terminal', answeredAt };
  };
  // A run that waits is continued from its checkpoint.
  const checkpointer = createMemoryCheckpointer();
  return { reviewers, parts: { questions: { findByTriage } }, checkpointer, waitMs: WAIT_MS };
}

type Answered = Pick<ReviewerQuestion, 'state' | 'answer' | 'answeredBy' | 'answeredAt'>;
