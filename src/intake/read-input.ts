import { createHash } from 'node:crypto';
import { parse } from 'secure-json-parse';
import { z } from 'zod';
import { messageOf, TriageError } from '../domain/errors.ts';

/** Parses JSON from outside. Throws `invalid-input` for broken JSON and for keys that would reach a prototype; `what` names it for people. */
export function parseJson(what: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new TriageError('invalid-input', `${what} is not usable JSON: ${messageOf(error)}. Send one JSON object in UTF-8.`, {
      cause: error,
    });
  }
}

/** Checks a value from outside. Throws `invalid-input` whose details list every field that is wrong. */
export function readInput<Schema extends z.ZodType>(what: string, schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  const first = issues[0];
  const where = first === undefined || first.path === '' ? '' : ` at "${first.path}"`;
  throw new TriageError('invalid-input', `${what} is not as expected${where}: ${first?.message ?? 'unknown'}.`, { details: { issues } });
}

/**
 * A short text from outside that will be stored and shown: at most `max` characters, NUL and lone surrogates (which
 * PostgreSQL refuses) replaced by U+FFFD.
 */
export function shortText(max = 1000) {
  return z.string().trim().min(1).max(max).overwrite(storable);
}

/** Replaces what PostgreSQL cannot keep. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** A time from outside as ISO 8601 in UTC, or null where it is absent or no time at all. */
export function toUtc(time: string | number | null | undefined): string | null {
  if (time === null || time === undefined) return null;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

export function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
