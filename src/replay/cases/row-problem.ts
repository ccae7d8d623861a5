import type { z } from 'zod';
import { CATEGORIES } from '../../domain/category.ts';

/** What is wrong with a row: where (`expected_lines.0.1`, or `(row)` for all of it) and why, for people. */
export interface RowProblem {
  readonly path: string;
  readonly reason: string;
}

const LABELS: ReadonlySet<string> = new Set(['category', 'also_ok', 'category_alternatives']);
const SHOWN = 60;

/** The first thing that is wrong. A label outside the taxonomy is quoted beside those that are allowed. */
export function problemOf(error: z.ZodError, value: unknown): RowProblem {
  const issue = error.issues[0];
  if (issue === undefined) return { path: '(row)', reason: error.message };
  const path = issue.path.join('.') || '(row)';
  if (!isLabel(issue.path)) return { path, reason: issue.message };
  const given = issue.path.reduce(valueAt, value);
  return typeof given === 'string'
    ? { path, reason: `"${given.slice(0, SHOWN)}" is no category; it must be one of ${CATEGORIES.join(', ')}` }
    : { path, reason: issue.message };
}

/** Whether the field is one of those that hold a category. */
export function isLabel([field]: readonly PropertyKey[]): boolean {
  return typeof field === 'string' && LABELS.has(field);
}

function valueAt(held: unknown, key: PropertyKey): unknown {
  if (typeof held !== 'object' || held === null) return undefined;
  return Object.getOwnPropertyDescriptor(held, key)?.value;
}
