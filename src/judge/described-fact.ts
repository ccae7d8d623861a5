import type { ErrorMessage } from '../domain/failure.ts';
import { classifyRole, isWrapper, type LineRole } from '../log/line-roles.ts';
import type { Fact, Facts } from './facts.ts';
import { isSameStep, readBlock, type ShownLine } from './failure-block.ts';
import { findLeadingDiagnostic } from './leading-diagnostic.ts';
import type { Match } from './rule.ts';
import type { Filled } from './sentence.ts';
import { cleanWords } from './values/clean.ts';
import { getFactText } from './wording.ts';

/** The minimum weight of a message that may be added to a cause. */
const MIN_WEIGHT = 30;
/** The maximum number of messages that are added to a cause, and the minimum weight of the second one. */
const [MOST, MIN_OF_SECOND] = [2, 60];
/** The distance in lines within which messages are preferred. */
const NEXT_TO = 2;
/** The minimum weight of a message in which a weak word counts as an error. */
const INFORMATIVE = 50;
/** The minimum share of its words, and the minimum number of words, that a message must add to a cause. */
const [NEW_SHARE, NEW_WORDS] = [0.6, 3];
const [SHORTEST, LONGEST] = [12, 240];
/**
 * The minimum weight of the first error message, as a share of the highest weight, at which it takes
 * precedence.
 */
const NEARLY_FIRST = 0.35;
type Message = Pick<ErrorMessage, 'text' | 'at' | 'weight'>;

/** The beginning of a finding with a place of its own, which is another failure. */
const PLACED = /^(?:\S{1,20}: )?[\w@./+-]{1,200}\.[a-z]\w{0,7}[:([]{1,2}\d{1,6}\b/i;
/** Source lines, stack frames, and items of data. They are not sentences. */
const NO_SENTENCE =
  /^\s{0,8}(?:\d{1,6}\s{0,4}[|│]|\/[/*]|\*\s|<!--|\\ |[|│>]\s|at \S+[ (]|File "|\^|~|["'{[(]|\w{1,40}\(.{0,80}\)?[;,{]$)|[{;,(]\s{0,4}$|^\s{0,40}(?:if|elif|for|while|return|raise|throw|import|def|class|const|let|var|await|with|assert)\b.{0,200}(?:[()[\]{}]|[^=!<>]=[^=])/;
/** Words with which tools report that something went wrong. */
const COMPLAINS =
  /\b(?:err(?:or)?s?|\w{0,30}(?:Error|Exception)|fail(?:s|ed|ure)?|fatal|cannot|can't|can not|could not|couldn't|unable|without|denied|refused|forbidden|unauthorized|missing|lacks|invalid|illegal|unknown|unsupported|unrecognized|unexpected|undefined|unbound|exceed\w{0,4}|mismatch\w{0,3}|conflict\w{0,4}|duplicate|incompatible|timed? ?out|killed|abort\w{0,3}|panic\w{0,4}|trap|fault|stuck|cancell?ed|no such|nothing to|out of (?:date|sync)|not (?:found|exist|allowed|permitted|supported|available|defined|installed))\b/i;
/** The name of a system error, such as ENOENT. */
const ERRNO = /\bE[A-Z]{4,12}\b/;
/** Words that report an error only in a message that the ranking considers informative. */
const MAY_COMPLAIN =
  /\b(?:not|no|never|must|requires?|required|needs?|expected|already|closed|reset|would be|should|instead)\b/i;
/** Remarks, headings of captured output, and parts of a sentence. */
const REMARK =
  /^(?:(?:stderr|stdout) \||(?:\S{1,40} )?(?:INFO|DEBUG|WARN(?:ING)?|NOTICE)\b|(?:note|this (?:may|usually|can)|and|or|but)\b)/i;

/**
 * Finds the fact that the sentences describe: the leading diagnostic if it has a place, or else the fact that
 * decided. A fact that only says how something ended is replaced by the message that says why.
 */
export function findDescribedFact(facts: Facts, match: Match | null): Fact | null {
  const fact = chooseFact(facts, match);
  return fact === null || !isWrapper(cleanWords(getFactText(fact), LONGEST))
    ? fact
    : (findInnermost(fact, facts) ?? fact);
}

function chooseFact(facts: Facts, match: Match | null): Fact | null {
  if (match === null) return findFirstMessage(facts);
  const entry = findLeadingDiagnostic(facts, match);
  if (entry?.at != null)
    return {
      ...match.fact,
      origin: 'diagnostic',
      text: entry.message,
      source: entry.at.source,
      line: entry.at.line,
    };
  const fact = findInformativeTest(match, facts);
  if (isOutweighed(match, facts)) return findFirstMessage(facts);
  const words = cleanWords(getFactText(fact), LONGEST);
  if (!isWrapper(words)) return fact;
  if (findInnermost(fact, facts) !== null) return fact;
  const message = facts.subject.messages.find(
    (other) => other.weight >= MIN_WEIGHT && isBefore(other, fact, facts) && isComplaint(other),
  );
  return message === undefined ? fact : toFact(message);
}

/**
 * Finds the failing test with the most informative message that the rule matches, if a test decided. Returns
 * other facts unchanged.
 */
function findInformativeTest({ fact: decided, rule }: Match, { all, subject }: Facts): Fact {
  if (decided.origin !== 'test') return decided;
  const weigh = ({ text, line, source }: Fact) => {
    const inCategory = subject.messages.filter(
      (message) =>
        (message.at?.line === line && message.at?.source === source) ||
        text.startsWith(message.text.slice(0, 60)),
    );
    return inCategory.reduce((most, { weight }) => Math.max(most, weight), 0);
  };
  const tests = all.filter(
    ({ origin, text }) => origin === 'test' && rule.patterns.some((pattern) => pattern.test(text)),
  );
  return tests.reduce((best, test) => (weigh(test) > weigh(best) ? test : best), decided);
}

/** Checks whether another fact was chosen in place of the one that decided. */
export function tellsOfAnother(fact: Fact | null, { fact: decided }: Match): boolean {
  return fact !== null && fact !== decided && fact.origin === 'message';
}

/** The minimum weight of a line that is quoted, as a share of the highest weight of a message. */
const OUTWEIGHED = 0.4;

/**
 * Checks whether the deciding line is far less informative, according to the ranking, than an error message
 * from which the rule reads nothing.
 */
function isOutweighed({ fact, rule }: Match, { subject }: Facts): boolean {
  const [first] = subject.messages;
  if (fact.origin === 'diagnostic' || fact.origin === 'test' || first === undefined || !isComplaint(first))
    return false;
  if (rule.patterns.concat(rule.reads ?? []).some((pattern) => pattern.test(first.text))) return false;
  const weights = subject.messages.map(({ at, text, weight }) =>
    (at?.line === fact.line && at?.source === fact.source) || text.includes(getFactText(fact)) ? weight : 0,
  );
  return weights.every((weight) => weight < OUTWEIGHED * first.weight);
}

/** Returns the most informative message, or the first error message if that is nearly as informative. */
function findFirstMessage({ all, subject }: Facts): Fact | null {
  const [first] = subject.messages;
  const complaint = subject.messages.find(isComplaint);
  if (first !== undefined && complaint !== undefined && complaint.weight >= NEARLY_FIRST * first.weight)
    return toFact(complaint);
  return all.find(({ origin }) => origin === 'message') ?? null;
}

/** A level of Gradle's description of a failure. Each level explains the one above and is indented more. */
const LEVEL = /^\s{0,40}> \S/;

/**
 * Finds the innermost reason below a fact, if the tool lists reasons as levels. Returns null if there is
 * none.
 */
function findInnermost(fact: Fact, facts: Facts): Fact | null {
  const { trigger, step } = readBlock(fact, facts);
  const below = step.filter(({ line }) => trigger.line !== null && line >= trigger.line);
  let inner: ShownLine | null = null;
  for (const shownLine of below) {
    const isDeeper =
      LEVEL.test(shownLine.text) &&
      measureIndent(shownLine.text) > measureIndent((inner ?? below[0])?.text ?? '');
    if (shownLine !== below[0] && !isDeeper) break;
    if (isDeeper) inner = shownLine;
  }
  return inner === null || isWrapper(cleanWords(inner.text, LONGEST))
    ? null
    : toFact({ text: inner.text.trim(), at: inner, weight: 0 });
}

function toFact({ text, at }: Message): Fact {
  return { origin: 'message', text, source: at?.source ?? null, line: at?.line ?? null, weight: 1 };
}

function isBefore({ at }: ErrorMessage, { source, line }: Fact, { subject }: Facts): boolean {
  if (at === null || source === null || line === null) return true;
  return at.line <= line && isSameStep(at, { source, line }, subject);
}

/** The minimum length of a line that may have been wrapped. */
const WRAPPED = 60;
/** The beginning of a text that continues the line above. */
const CONTINUES =
  /^(?:(?!fatal|error|err|warning|panic|note|hint)[a-z(]|(?:So|And|Thus|Therefore|Hence|Which)\b)/;

/** The roles of lines that do not continue a text. */
const NO_REST: ReadonlySet<LineRole> = new Set(['echo', 'ending', 'passing', 'progress']);
/** The lines of a comparison, with the expected and the actual value. */
const [EXPECTS, GETS] = [/^Expected\b[\w ]{0,30}:/i, /^(?:Received|Actual|But was|Got)\b[\w ]{0,30}:/i];

/** Returns the text of a fact, including lines that the tool wrapped it onto. */
export function readWhole(fact: Fact, facts: Facts): string {
  let whole = getFactText(fact);
  const { trigger, paragraph } = readBlock(fact, facts);
  const triggerLine = paragraph.find(({ line }) => line === trigger.line);
  if (triggerLine === undefined || whole.includes('\n')) return whole;
  let last = triggerLine;
  for (const next of paragraph.filter(({ line }) => line > triggerLine.line)) {
    if (next.line !== last.line + 1 || NO_REST.has(classifyRole(next.text.trim()))) break;
    if (!goesOn(whole, last, next)) break;
    const isAnnounced = whole.endsWith(':');
    const isSide = EXPECTS.test(next.text.trim()) || GETS.test(next.text.trim());
    whole += `${isSide ? ', ' : ' '}${next.text.trim()}`;
    if (isAnnounced) break;
    last = next;
  }
  const above = paragraph.find(
    ({ line, source }) => line === triggerLine.line - 1 && source === triggerLine.source,
  );
  const isRest =
    above !== undefined &&
    CONTINUES.test(triggerLine.text.trim()) &&
    isSentence(above.text) &&
    classifyRole(above.text) !== 'echo';
  return isRest && (isCut(above.text) || /^[A-Z]/.test(triggerLine.text.trim()))
    ? `${above.text.trim()} ${whole}`
    : whole;
}

/** Checks whether a line continues the text above it, because the text was wrapped or ends in a colon. */
function goesOn(whole: string, last: ShownLine, next: ShownLine): boolean {
  const text = next.text.trim();
  if (text === '' || measureIndent(next.text) < measureIndent(last.text)) return false;
  if (GETS.test(text) ? EXPECTS.test(last.text.trim()) : EXPECTS.test(text)) return true;
  if (/[a-z\d]:$/.test(whole))
    return next.text.length < 2 * WRAPPED && classifyRole(text) !== 'passing' && isSentence(text);
  return isCut(last.text) && (/^ {2}/.test(next.text) || CONTINUES.test(text)) && isSentence(text);
}

/** Checks whether a long line ends within a sentence. */
function isCut(text: string): boolean {
  return text.length >= WRAPPED && !/[.!?:;,{}]$/.test(text.trimEnd());
}

function isSentence(text: string): boolean {
  return !NO_SENTENCE.test(text.trim().replace(/^\(/, ''));
}

/**
 * Quotes what a cause does not contain yet: the most informative messages of the failed step, or else an
 * error message next to the deciding line. That is often the message inside a wrapper, or the reason for a
 * symptom. Returns null if there is none.
 */
export function completeCause(cause: string, fact: Fact | null, facts: Facts): Filled | null {
  if (fact === null || fact.source === null || fact.line === null) return null;
  // The deciding line is already quoted as evidence.
  const known = new Set(listWords(`${cause} ${fact.text}`));
  const found: Message[] = [];
  for (const message of listMessages(fact, facts).concat(listNeighbors(fact, facts))) {
    if (found.length === MOST || (found.length > 0 && message.weight < MIN_OF_SECOND)) break;
    if (
      !isComplaint(message) ||
      !adds(message, known) ||
      isHeading(message, fact) ||
      isFinding(message, facts) ||
      isAnnouncement(message, facts)
    )
      continue;
    found.push(message);
    for (const word of listWords(cleanWords(message.text, LONGEST))) known.add(word);
  }
  if (found.length === 0) return null;
  const values = found.map((message) => {
    const text = cleanWords(readWhole(toFact(message), facts), LONGEST);
    return {
      text,
      source: message.at?.source ?? null,
      line: message.at?.line ?? null,
      near: 'step',
    } as const;
  });
  return { text: `The step also printed ${values.map(({ text }) => `“${text}”`).join(' and ')}.`, values };
}

/**
 * Checks whether a message only introduces other lines, which a quotation would not contain: "This was the
 * stack:".
 */
function isAnnouncement(message: Message, facts: Facts): boolean {
  return readWhole(toFact(message), facts).trimEnd().endsWith(':');
}

/** Lists the lines near a fact, nearest first. At the same distance, the line above comes first. */
function listNeighbors(fact: Fact, facts: Facts): Message[] {
  const { trigger, paragraph } = readBlock(fact, facts);
  const distance = (line: number) => Math.abs(line - (trigger.line ?? line));
  const near = paragraph.filter(({ line }) => distance(line) > 0 && distance(line) <= NEXT_TO);
  return near
    .sort((left, right) => distance(left.line) - distance(right.line) || left.line - right.line)
    .map(({ text, source, line }) => ({ text, at: { source, line }, weight: 0 }));
}

/** Lists the informative messages of the fact's step. */
function listMessages(fact: Fact, { subject }: Facts): Message[] {
  const at = { source: fact.source ?? '', line: fact.line ?? 0 };
  return subject.messages.filter(
    (message) =>
      message.weight >= MIN_WEIGHT &&
      message.at !== null &&
      message.at.line !== at.line &&
      isSameStep(message.at, at, subject),
  );
}

/** Checks whether a message is the line above a fact and only introduces it. */
function isHeading({ text, at }: Message, fact: Fact): boolean {
  return at?.line === (fact.line ?? 0) - 1 && text.trimEnd().endsWith(':');
}

/** Checks whether a message is a sentence that reports an error. */
export function isComplaint({ text, weight }: Message): boolean {
  const words = cleanWords(text, LONGEST);
  return (
    classifyRole(words) === 'cause' &&
    !WARNS.test(words) &&
    (COMPLAINS.test(words) || ERRNO.test(words) || (weight >= INFORMATIVE && MAY_COMPLAIN.test(words))) &&
    !isWrapper(words) &&
    ![NO_SENTENCE, PLACED, REMARK].some((pattern) => pattern.test(words))
  );
}

/** A warning, unless the line also says that it is treated as an error. */
const WARNS = /\bwarnings?\b(?!.{0,40}\berrors?\b)|\w{3,40}Warning\b/i;

/**
 * Checks whether a text reports an error in the words of tools. Warnings do not count, because they stop no
 * step.
 */
export function complains(text: string): boolean {
  if (WARNS.test(text)) return false;
  return COMPLAINS.test(text) || ERRNO.test(text) || MAY_COMPLAIN.test(text) || /^\s{0,8}[❌✖✗⨯]/.test(text);
}

/** Checks whether a message is a finding of a compiler or linter. */
function isFinding({ text }: Message, { subject }: Facts): boolean {
  return subject.diagnostics.some(({ message }) => message.startsWith(text.slice(0, 80)));
}

/** Checks whether enough of a message's words are not among the known ones. */
function adds({ text }: Message, known: ReadonlySet<string>): boolean {
  const words = listWords(cleanWords(text, LONGEST));
  const added = words.filter((word) => !known.has(word)).length;
  return text.length >= SHORTEST && added >= NEW_WORDS && added / words.length >= NEW_SHARE;
}

function measureIndent(text: string): number {
  return text.length - text.trimStart().length;
}

function listWords(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [])];
}
