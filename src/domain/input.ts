import { z } from 'zod';
import { TriageError } from './errors.ts';

/** Text that somebody typed: trimmed, and not only of blanks, which the pattern also tells whoever reads the API's description. */
export function typedText(max: number) {
  return z.string().regex(/\S/, 'must not be empty').trim().max(max);
}

/** Checks a value from outside. Throws `invalid-input` whose details list every field that is wrong. */
export function readInput<Schema extends z.ZodType>(what: string, schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  const first = issues[0];
  const where = first === undefined || first.path === '' ? '' : ` at "${first.path}"`;
  throw new TriageError('invalid-input', `${what} is invalid${where}: ${first?.message ?? 'unknown'}.`, { details: { issues } });
}
