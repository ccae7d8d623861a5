import type { z } from 'zod';
import { CATEGORIES } from '../../domain/category.ts';

/** What is wrong with a row: where (`expected_lines.0.1`, or `(row)` for all of it) and why, for people. */
export interface RowProblem {
  readonly path: string;
  readonly reason: string;
}

const LABELS: ReadonlySet<string> = new Set(['category', 'also_ok', 'category_alternatives']);
const SHOWN = 60;

/** The first thing that is wrong. */
export function problemOf(error: z.ZodError, value: unknown): RowProblem {
  return problemsOf(error, value)[0] ?? { path: '(row)', reason: error.message };
}

/** Everything that is wrong, in the row's order. A label outside the taxonomy is quoted beside those that are allowed. */
export function problemsOf(error: z.ZodError, value: unknown): RowProblem[] {
  return error.issues.map((issue) => {
    const path = issue.path.join('.') || '(row)';
    const given = isLabel(issue.path) ? issue.path.reduce(valueAt, value) : undefined;
    if (typeof given !== 'string') return { path, reason: issue.message };
    return { path, reason: `"${given.slice(0, SHOWN)}" is not a category; use one of ${CATEGORIES.join(', ')}` };
  });
}

/** Whether the field is one of those that hold a category. */
function isLabel([field]: readonly PropertyKey[]): boolean {
  return typeof field === 'string' && LABELS.has(field);
}

function valueAt(held: unknown, key: PropertyKey): unknown {
  if (typeof held !== 'object' || held === null) return undefined;
  return Object.getOwnPropertyDescriptor(held, key)?.value;
}
