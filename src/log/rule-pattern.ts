import { RE2JS, RE2JSException } from 're2js';
import type { Failure } from '../domain/failure.ts';

/** A pattern that can be tried on any text in linear time, because RE2 does not backtrack. */
export interface RulePattern {
  /** Returns the line on which the first match begins, or null if nothing matches. */
  matchedLine(text: string): string | null;
}

/**
 * The maximum number of instructions of a compiled pattern. Repetitions need many, even in a short pattern.
 */
const MAX_PROGRAM = 3_000;
/** The maximum number of characters of a failure that rules are tried on: its message, then its excerpt. */
const MAX_TEXT = 8_000;
/** The maximum number of cached compiled patterns, because compiling takes longer than matching. */
const MAX_COMPILED = 1_000;

const compiled = new Map<string, RulePattern>();

/** Compiles a pattern. If it is refused, returns a sentence that says why. */
export function compileRulePattern(pattern: string): RulePattern | { readonly refused: string } {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  try {
    const re = RE2JS.compile(pattern, RE2JS.MULTILINE);
    if (re.programSize() > MAX_PROGRAM)
      return { refused: 'The pattern repeats so much that trying it would take too long.' };
    const made: RulePattern = { matchedLine: (text) => findMatchedLine(re, text) };
    if (compiled.size >= MAX_COMPILED) compiled.delete(compiled.keys().next().value ?? '');
    compiled.set(pattern, made);
    return made;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const why =
      'Look-around, back-references and possessive repeats could backtrack, so RE2 has none of them.';
    return { refused: `This is no pattern of RE2's syntax: ${error.message}. ${why}` };
  }
}

/**
 * Returns the text that rules are matched against: the failure's message and the lines of the log around it.
 */
export function buildRuleText({ message, excerpt }: Pick<Failure, 'message' | 'excerpt'>): string {
  return `${message}\n${excerpt?.text ?? ''}`.slice(0, MAX_TEXT);
}

function findMatchedLine(re: RE2JS, text: string): string | null {
  const matcher = re.matcher(text);
  if (!matcher.find()) return null;
  const at = matcher.start();
  const end = text.indexOf('\n', at);
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, end === -1 ? text.length : end);
}
