import type { Category } from '../domain/category.ts';
import type { QuestionState, ReviewerQuestion } from '../domain/question.ts';

export interface QuestionFilter {
  readonly state?: QuestionState;
  readonly category?: Category;
  readonly repository?: string;
  /** Only of these: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/** Questions that running triages put to people. */
export interface QuestionStore {
  /** Puts a question that waits for `waitMs`; a triage has one: asked again, the stored one is returned. */
  ask(
    question: Omit<ReviewerQuestion, 'kind' | 'state' | 'answer' | 'answeredBy' | 'answeredAt' | 'expiresAt'>,
    waitMs: number,
  ): Promise<ReviewerQuestion>;
  find(id: string): Promise<ReviewerQuestion | null>;
  findByTriage(triageId: string): Promise<ReviewerQuestion | null>;
  /** Oldest first. */
  list(filter: QuestionFilter, page: { readonly limit: number; readonly offset: number }): Promise<ReviewerQuestion[]>;
  /** Stores the answer and makes the build's job owed again, to be rung for by its id; null where the question waits no more. */
  answer(id: string, answer: string, by: string): Promise<{ readonly question: ReviewerQuestion; readonly jobId: string | null } | null>;
  /** Closes what has waited too long; returns the jobs that are owed again by it. */
  expire(): Promise<string[]>;
}
