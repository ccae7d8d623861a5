import type { ErrorMessage } from '../domain/failure.ts';
import { roleOf } from '../log/roles.ts';
import type { Fact, Facts } from './facts.ts';
import type { Filled, Value } from './sentence.ts';
import { isSameStep } from './telling-block.ts';
import { cleanWords } from './values/clean.ts';

/** Messages that the reader ranks lower say little. */
const LEAST_WEIGHT = Number(process.env.C_W ?? 30);
/** The share of its words that a message must add to the cause, and how many words at least. */
const [NEW_SHARE, NEW_WORDS] = [Number(process.env.C_NEW ?? 0.4), 2];
const [SHORTEST, LONGEST] = [12, 240];
/** Lines of source that a tool shows, frames of a trace, and items of data. */
const NO_SENTENCE = /^\s{0,8}(?:\d{1,6}\s{0,4}[|│]|[|│>]\s|at \S+[ (]|File "|\^|~|["'{[(]|\w{1,40}\(.{0,80}\)?[;,{]$)|[{;,(]\s{0,4}$/;
/** Words that say that something is not as it should be. */
const COMPLAINS =
  /\b(?:err(?:or)?s?|\w{0,30}(?:Error|Exception)|fail(?:s|ed|ure)?|fatal|cannot|can't|can not|could not|couldn't|unable|not|no|never|without|denied|refused|forbidden|unauthorized|missing|lacks|invalid|illegal|unknown|unsupported|unrecognized|unexpected|undefined|unbound|must|requires?|required|needs?|expected|exceed\w{0,4}|mismatch\w{0,3}|conflict\w{0,4}|duplicate|already|incompatible|timed? ?out|killed|abort\w{0,3}|panic\w{0,4}|trap|fault|stuck|closed|reset|E[A-Z]{4,12})\b/i;

/**
 * Quotes the most informative message of the failed step that a cause does not hold yet: often the one inside a wrapper, or the reason behind
 * a symptom. Null where there is none.
 */
export function completeCause(cause: string, fact: Fact | null, { subject }: Facts): Filled | null {
  if (fact === null || fact.source === null || fact.line === null) return null;
  const at = { source: fact.source, line: fact.line };
  const known = new Set(listWords(cause));
  const message = subject.messages.find(
    (one) => one.weight >= LEAST_WEIGHT && one.at !== null && isSameStep(one.at, at, subject) && isComplaint(one) && adds(one, known),
  );
  if (message === undefined) return null;
  const value: Value = {
    text: cleanWords(message.text, LONGEST),
    source: message.at?.source ?? null,
    line: message.at?.line ?? null,
    near: 'step',
  };
  const lead = message.at?.line === fact.line ? 'The log says' : 'The step also printed';
  return { text: `${lead} “${value.text}”.`, values: [value] };
}

function isComplaint({ text }: ErrorMessage): boolean {
  return roleOf(text) === 'cause' && COMPLAINS.test(text) && !NO_SENTENCE.test(text);
}

/** Tells whether a message says enough that is not among the known words. */
function adds({ text }: ErrorMessage, known: ReadonlySet<string>): boolean {
  const words = listWords(text);
  const added = words.filter((word) => !known.has(word)).length;
  return text.length >= SHORTEST && added >= NEW_WORDS && added / words.length >= NEW_SHARE;
}

function listWords(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [])];
}
