import type { Category } from '../../domain/category.ts';
import type { Statement } from './platt.ts';

/** An answer whose truth is known: what it said, how sure it was once verified and before any calibration, and whether it was right. */
export interface LabelledAnswer extends Statement {
  readonly id: string;
  /** Answers of one project are never on both sides of a split. */
  readonly project: string;
  /** The one that was said. */
  readonly category: Category;
  /** When it was decided or happened, ISO 8601; null where nobody knows. */
  readonly at: string | null;
}

export function weightOf({ weight = 1 }: Statement): number {
  return weight;
}
