import type { ErrorMessage } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { classifyRole, saysNothing } from '../log/roles.ts';
import type { Fact, Facts } from './facts.ts';
import { findLeadingDiagnostic } from './leading-diagnostic.ts';
import type { Match } from './rule.ts';
import type { Filled } from './sentence.ts';
import { isSameStep, readBlock } from './telling-block.ts';
import { cleanWords } from './values/clean.ts';
import { getFactText } from './wording.ts';

/** The least weight of a message that may add to a cause. */
const LEAST_WEIGHT = 30;
/** The share of its words, and the number of words, that a message must add to a cause. */
const [NEW_SHARE, NEW_WORDS] = [0.4, 2];
const [SHORTEST, LONGEST] = [12, 240];
/** The share of the weight of the first message that the first complaint needs to come before it. */
const NEARLY_FIRST = Number(process.env.C_NF ?? 0.5);
/** Lines of source that a tool shows, frames of a trace, and items of data. */
const NO_SENTENCE =
  /^\s{0,8}(?:\d{1,6}\s{0,4}[|│]|[|│>]\s|at \S+[ (]|File "|\^|~|["'{[(]|\w{1,40}\(.{0,80}\)?[;,{]$)|[{;,(]\s{0,4}$/;
/** Words with which tools say that something is wrong. */
const COMPLAINS =
  /\b(?:err(?:or)?s?|\w{0,30}(?:Error|Exception)|fail(?:s|ed|ure)?|fatal|cannot|can't|can not|could not|couldn't|unable|not|no|never|without|denied|refused|forbidden|unauthorized|missing|lacks|invalid|illegal|unknown|unsupported|unrecognized|unexpected|undefined|unbound|must|requires?|required|needs?|expected|exceed\w{0,4}|mismatch\w{0,3}|conflict\w{0,4}|duplicate|already|incompatible|timed? ?out|killed|abort\w{0,3}|panic\w{0,4}|trap|fault|stuck|closed|reset|E[A-Z]{4,12})\b/i;

/**
 * Finds the fact that the sentences are made of: the leading diagnostic if it has a place, otherwise what decided. A
 * fact that only says how something ended gives way to the message that says why.
 */
export function findTellingFact(facts: Facts, match: Match | null): Fact | null {
  if (match === null) return findFirstMessage(facts);
  const entry = findLeadingDiagnostic(facts, match);
  if (entry?.at != null)
    return { ...match.fact, origin: 'diagnostic', text: entry.message, source: entry.at.source, line: entry.at.line };
  const { fact } = match;
  if (!saysNothing(getFactText(fact))) return fact;
  const message = facts.subject.messages.find((one) => one.weight >= LEAST_WEIGHT && isBefore(one, fact, facts) && isComplaint(one));
  return message === undefined ? fact : toFact(message);
}

/** Returns the most informative message, or the first complaint if that is nearly as informative. */
function findFirstMessage({ all, subject }: Facts): Fact | null {
  const [first] = subject.messages;
  const complaint = subject.messages.find(isComplaint);
  if (first !== undefined && complaint !== undefined && complaint.weight >= NEARLY_FIRST * first.weight) return toFact(complaint);
  return all.find(({ origin }) => origin === 'message') ?? null;
}

function toFact({ text, at }: ErrorMessage): Fact {
  return { origin: 'message', text, source: at?.source ?? null, line: at?.line ?? null, weight: 1 };
}

function isBefore({ at }: ErrorMessage, { source, line }: Fact, { subject }: Facts): boolean {
  if (at === null || source === null || line === null) return true;
  return at.line <= line && isSameStep(at, { source, line }, subject);
}

/** The length from which a line without an end may go on in the next line of the same indentation. */
const WRAPPED = 60;

/** Returns the text of a fact with the lines onto which the tool wrapped it. */
export function readWhole(fact: Fact, facts: Facts): string {
  let whole = getFactText(fact);
  const { trigger, paragraph } = readBlock(fact, facts);
  let last = paragraph.find(({ line }) => line === trigger.line);
  if (last === undefined || whole.includes('\n')) return whole;
  for (const next of paragraph.filter(({ line }) => line > (trigger.line ?? line))) {
    const text = next.text.trim();
    const isLong = last.text.length >= WRAPPED && /^ {2}/.test(next.text);
    const goesOn = !/[.!?:;,{}]$/.test(whole) && (isLong || /^[a-z(]/.test(text));
    if (next.line !== last.line + 1 || text === '' || !goesOn || measureIndent(next.text) < measureIndent(last.text) || NO_SENTENCE.test(next.text)) break;
    whole += ` ${text}`;
    last = next;
  }
  return whole;
}

/**
 * Quotes the most informative message of the failed step that a cause does not contain yet: often the one inside a
 * wrapper, or the reason behind a symptom. Returns null if there is none.
 */
export function completeCause(cause: string, fact: Fact | null, facts: Facts): Filled | null {
  const { subject } = facts;
  if (fact === null || fact.source === null || fact.line === null) return null;
  const known = new Set(listWords(cause));
  const at = { source: fact.source, line: fact.line };
  const message = subject.messages.find(
    (one) => one.weight >= LEAST_WEIGHT && isInStep(one, at, subject) && isComplaint(one) && adds(one, known),
  );
  if (message === undefined) return null;
  const text = cleanWords(readWhole(toFact(message), facts), LONGEST);
  const value = { text, source: message.at?.source ?? null, line: message.at?.line ?? null, near: 'step' } as const;
  return { text: `${message.at?.line === at.line ? 'The log says' : 'The step also printed'} “${text}”.`, values: [value] };
}

function isInStep({ at }: ErrorMessage, other: { readonly source: string; readonly line: number }, subject: TriageSubject): boolean {
  return at !== null && isSameStep(at, other, subject);
}

/** Checks whether a message says in a sentence that something is wrong. */
function isComplaint({ text }: ErrorMessage): boolean {
  return classifyRole(text) === 'cause' && COMPLAINS.test(text) && !NO_SENTENCE.test(text);
}

/** Checks whether enough of a message is not among the known words. */
function adds({ text }: ErrorMessage, known: ReadonlySet<string>): boolean {
  const words = listWords(text);
  const added = words.filter((word) => !known.has(word)).length;
  return text.length >= SHORTEST && added >= NEW_WORDS && added / words.length >= NEW_SHARE;
}

function measureIndent(text: string): number {
  return text.length - text.trimStart().length;
}

function listWords(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [])];
}
