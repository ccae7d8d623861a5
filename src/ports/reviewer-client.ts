import type { Category } from '../domain/category.ts';
import type { TriageSubject } from '../domain/subject.ts';

/** Where a running triage puts a question to a person. */
export interface ReviewerClient {
  /** Keeps the question in the review queue, one per triage: asked again, the first one stands. Throws `storage-failed`. */
  ask(question: {
    readonly subject: TriageSubject;
    readonly category: Category;
    readonly text: string;
  }): Promise<{ readonly id: string; readonly text: string }>;
}
