import { createHash } from 'node:crypto';

/**
 * The one JSON text of a value: keys sorted, what is undefined left out, characters that no database takes replaced as the database
 * would. Two values are the same exactly where these texts are.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value === 'string') return JSON.stringify(cleanText(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(cleanText(key))}:${canonicalJson(item)}`).join(',')}}`;
}

/** SHA-256 of the canonical text, 64 hex digits. */
export function fullHashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** The first 16 hex digits of it: enough to tell the inputs of one run apart. */
export function shortHashOf(value: unknown): string {
  return fullHashOf(value).slice(0, 16);
}

function cleanText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
