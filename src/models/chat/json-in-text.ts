import { parseJson } from '../../lib/text.ts';

/** An object and the index of its opening brace. */
export interface JsonInText {
  readonly at: number;
  readonly value: unknown;
}

/**
 * The maximum number of opening braces that are tried. A text with more is not a reply with a little prose
 * around it.
 */
const MAX_STARTS = 50;

/**
 * Extracts the outermost JSON objects of a text, in order and without duplicates. A reply that is only JSON
 * is parsed as a whole. From prose or a code fence, the objects inside are extracted.
 */
export function extractJsonObjectsIn(text: string): unknown[] {
  return findJsonObjects(text).map(({ value }) => value);
}

/** Finds the same objects, each with the index of its first character. */
export function findJsonObjects(text: string): JsonInText[] {
  const whole = parseObject(text.trim());
  if (whole !== null) return [{ at: text.indexOf('{'), value: whole }];
  const found = new Map<string, JsonInText>();
  let from = 0;
  for (let starts = 0; starts < MAX_STARTS; starts++) {
    const start = text.indexOf('{', from);
    if (start < 0) break;
    const end = findObjectEnd(text, start);
    const value = end === null ? null : parseObject(text.slice(start, end));
    if (value !== null) found.set(JSON.stringify(value), { at: start, value });
    from = value !== null && end !== null ? end : start + 1;
  }
  return [...found.values()];
}

/**
 * Returns the index after the brace that closes the one at `start`, or null. Braces in strings do not count.
 */
function findObjectEnd(text: string, start: number): number | null {
  let depth = 0;
  let quoted = false;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (quoted) {
      if (character === '\\') index += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return null;
}

function parseObject(text: string): object | null {
  const value = text.startsWith('{') ? parseJson(text) : null;
  return typeof value === 'object' ? value : null;
}
