import { RE2JS, RE2JSException } from 're2js';
import { TriageError } from '../domain/errors.ts';

/** Characters of a line that a pattern looks at; a literal text looks at all. */
const MAX_LINE = 8_000;

/** How a line is asked. */
export interface Asked {
  readonly text: string;
  /** The text is a pattern in RE2's syntax, which takes linear time whatever line it meets: no look-around, no back-references. */
  readonly pattern: boolean;
  readonly ignoreCase: boolean;
}

/** Whether a line holds the text. Throws `invalid-input` for a pattern that cannot be read. */
export function lineTest({ text, pattern, ignoreCase }: Asked): (line: string) => boolean {
  if (pattern) {
    const compiled = compile(text, ignoreCase);
    return (line) => compiled.matcher(line.slice(0, MAX_LINE)).find();
  }
  if (!ignoreCase) return (line) => line.includes(text);
  const lower = text.toLowerCase();
  return (line) => line.toLowerCase().includes(lower);
}

function compile(text: string, ignoreCase: boolean): RE2JS {
  try {
    return RE2JS.compile(text, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new TriageError('invalid-input', `text is no pattern of RE2's syntax: ${error.message}`, { cause: error });
  }
}
