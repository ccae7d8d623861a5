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

/** How many equal cases so many unequally weighted ones are worth (Kish 1965); their number where none is weighted. */
export function worthOf(statements: readonly Statement[]): number {
  const weight = statements.reduce((sum, one) => sum + weightOf(one), 0);
  const squares = statements.reduce((sum, one) => sum + weightOf(one) ** 2, 0);
  return squares === 0 ? 0 : weight ** 2 / squares;
}

/** The same with weights that add up to what they are worth, so that a case that stands for twenty does not speak for twenty. */
export function asWorth<One extends Statement>(statements: readonly One[]): (One & { readonly weight: number })[] {
  const weight = statements.reduce((sum, one) => sum + weightOf(one), 0);
  const share = weight === 0 ? 1 : worthOf(statements) / weight;
  return statements.map((one) => ({ ...one, weight: weightOf(one) * share }));
}
