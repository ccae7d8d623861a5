/** Starts looked at: a text with more braces than this is not a reply with a little prose around it. */
const MAX_STARTS = 50;

/**
 * The JSON objects that stand in a text, outermost ones only, in order: of a bare JSON reply itself, of a reply with prose
 * or a code fence around it the objects inside. Equal ones are given once.
 */
export function jsonObjectsIn(text: string): unknown[] {
  const whole = parseObject(text.trim());
  if (whole !== null) return [whole];
  const found = new Map<string, unknown>();
  let from = 0;
  for (let starts = 0; starts < MAX_STARTS; starts++) {
    const start = text.indexOf('{', from);
    if (start < 0) break;
    const end = endOfObject(text, start);
    const value = end === null ? null : parseObject(text.slice(start, end));
    if (value !== null) found.set(JSON.stringify(value), value);
    from = value !== null && end !== null ? end : start + 1;
  }
  return [...found.values()];
}

/** Index after the brace that closes the one at `start`, or null. Braces within strings do not count. */
function endOfObject(text: string, start: number): number | null {
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
  if (!text.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}
