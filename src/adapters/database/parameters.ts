const NUL = /\0/g;
const REPLACEMENT = '\uFFFD';

/**
 * Makes parameters that PostgreSQL accepts: NUL characters, which text and jsonb refuse, become U+FFFD; plain objects
 * become JSON whose strings are clean in the same way and hold no lone surrogates. Arrays become SQL arrays, so a jsonb
 * column is always given an object.
 */
export function cleanParameters(values: readonly unknown[]): unknown[] {
  return values.map(cleanParameter);
}

function cleanParameter(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanParameter);
  if (value === null || typeof value !== 'object' || value instanceof Date || ArrayBuffer.isView(value)) return value;
  return JSON.stringify(cleanJson(value));
}

function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value).toWellFormed();
  if (Array.isArray(value)) return value.map(cleanJson);
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleanText(key).toWellFormed(), cleanJson(item)]));
}

function cleanText(text: string): string {
  return text.includes('\0') ? text.replace(NUL, REPLACEMENT) : text;
}
