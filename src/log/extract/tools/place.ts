import type { Diagnostic } from '../../../domain/failure.ts';
import { append } from '../../../lib/collections.ts';
import type { LogText } from '../../lines/lines.ts';
import { normaliseMessage } from '../../recognise/normalise.ts';
import type { Extraction } from '../extraction.ts';

/** A place in a file, and what a tool said of it on the same line. */
export interface Placed {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  /** `none` is a note or a hint; null where the line does not say. */
  readonly severity: Severity | null;
  readonly code: string | null;
  /** Empty where the line holds nothing but the place. */
  readonly message: string;
}

type Severity = Diagnostic['severity'] | 'none';

/** What is said behind a place, or without one. */
type Said = Pick<Placed, 'severity' | 'code' | 'message'>;

/** What may stand before a place or a message: marks of CI systems and loggers, severities, bullets, the name of the program. */
const MARKS: readonly RegExp[] = [
  /^[\s│|]{1,60}/,
  /^##\[(?<word>error|warning|notice)\]/,
  /^\[(?<word>ERROR|WARNING|WARN|FATAL|INFO|DEBUG|[xX!])\](?=[\s:])/i,
  /^\[[a-z][\w.:-]{0,19}\](?=\s)/,
  /^(?<word>(?:fatal )?error|fatal|warning)(?: in|: ?)(?=\s|\S{0,200}\.\w)/i,
  /^(?<word>[✖✘×❌✗✕⚠ew])(?:️|:)?(?=\s)/,
  /^(?:\d{1,4}>|[-*•●>](?=\s)|In(?=\s)|file:\/\/|[a-z][\w.+-]{0,30}:(?=\s))/,
];

const PLACE =
  /^(?<file>(?:[A-Za-z]:[\\/])?[^\s:|<>"'`;=]{1,250}?)(?:(?::\s?|\s)?[([](?<line1>\d{1,7})(?:[,:]\s?(?<column1>\d{1,6}))?(?:,\d{1,7},\d{1,7})?[)\]](?:-\(\d{1,7}[,:]\d{1,6}\))?|:(?<line2>\d{1,7})(?:[:.,](?<column2>\d{1,6}))?(?:-\d{1,7}(?::\d{1,6})?)?|:? lines? (?<line3>\d{1,7})(?:,? col(?:umn)?:? (?<column3>\d{1,6}))?|:? (?<line4>\d{1,7})(?::(?<column4>\d{1,6})(?:-[\d:]{1,12})?)?)(?=[\s:,]|$)(?<rest>.{0,1500})/;
/** A path with spaces in it, where the severity behind its line and column leaves no doubt. */
const SPACED =
  /^(?<file>(?:[A-Za-z]:[\\/])?[^\s:|<>"'`;=][^:|<>"'`;=]{0,250}\.\w{1,10}):(?<line2>\d{1,7}):(?<column2>\d{1,6})(?=: (?:fatal )?(?:error|warning|note)\b)(?<rest>.{0,1500})/;
/** Names without an extension that are files all the same. */
const BARE_NAME =
  /^(?:Dockerfile|Makefile|GNUmakefile|BUILD|WORKSPACE|Gemfile|Rakefile|Jenkinsfile|Podfile|Fastfile|Justfile|Vagrantfile|Procfile|go\.mod|go\.sum)(?:\.\w{1,20})?$/i;
const EXTENSION = /\.[A-Za-z_][\w+-]{0,11}$/;
/** What looks like an extension, and ends a host name. */
const HOST = /^[\w.-]{1,200}\.(?:com|org|net|io|dev|local|localhost|internal|cloud|app|svc|test|invalid|edu|gov|eu|de|uk|co|ai|info)$/i;

const SEVERITY =
  /^[([]?(?<word>(?:fatal )?error|err|fatal|failure|critical|warning|warn|note|info|information|hint|help|remark|style|performance|portability|convention|refactor|notice|[EWFCRI](?=:\s))[)\]]?(?:\[(?<code>[^\]\s]{1,60})\])?(?:\s?:\s{0,4}|\s-\s{1,4}|\s{2,8}|(?<=\])\s|\s(?=[A-Z]{1,8}\d{2,6}\b)|$)/i;
const CODE =
  /^[([]?(?:(?<code>[A-Z]{1,9}-?\d{2,6})(?:\/[\w-]{1,60})?|(?<rule>[A-Z]\w{1,40}(?:\/\w{1,60}){1,3}|(?:lint|assist)\/[\w/]{1,80}|-W[\w-]{1,40})(?:, ?-W[\w=-]{1,60})?)[)\]]?[:,]?(?:\s{1,8}|$)/;
const REMARK = /^\[(?:[*-]|[A-Z][a-z]{1,20})\]\s/;
const END_CODE =
  /^(?<message>.{1,1000}?)\s{1,40}(?:\[(?:(?<word>Error|Warning)\/)?(?<code>[a-z@][\w@/.-]{1,80}|[A-Z]{1,6}\d{2,6})(?:,[\w,-]{1,80})?\]|\((?<rule>(?:[\w@]{1,40}[-/]){1,4}[\w-]{1,40}|[A-Z]{1,4}\d{2,6}|report[A-Z]\w{1,60})\))$/;

/** Whether a word names a file: it has an extension, or is known without one, and is no host, version or address. */
export function isFile(name: string): boolean {
  const base = name.split(/[\\/]/).at(-1) ?? '';
  if (/^\/\/|:\/\/|^[$@]|[{}]|\.\.\./.test(name)) return false;
  return BARE_NAME.test(base) || (EXTENSION.test(base) && !HOST.test(name));
}

/** Reads a line that begins with a place, after marks: `file:line:col: error CODE: message` in any spelling. Null where there is none. */
export function readPlaced(text: string): Placed | null {
  const { rest: unmarked, severity: mark } = withoutMarks(text);
  const groups = (SPACED.exec(unmarked) ?? PLACE.exec(unmarked))?.groups;
  if (groups === undefined || !isFile(groups.file ?? '')) return null;
  const { file = '', line1, line2, line3, line4, column1, column2, column3, column4, rest = '' } = groups;
  if (line4 !== undefined && column4 === undefined && !/^:\s|^\s[A-Z]{2,4}\d{3,4}\b/.test(rest)) return null;
  const said = readSaid(rest.replace(/^(?::\{[\d:,-]{1,60}\})?:{0,2}[,]?\s{0,8}(?:[-–—|]\s{1,4})?/, ''));
  return {
    file,
    line: numberOf(line1 ?? line2 ?? line3 ?? line4),
    column: numberOf(column1 ?? column2 ?? column3 ?? column4),
    ...said,
    severity: said.severity ?? mark,
  };
}

/** Reads a message that begins with a severity or a code, after marks. */
export function readHead(text: string): Said {
  const { rest, severity } = withoutMarks(text);
  const said = readSaid(rest);
  return { ...said, severity: said.severity ?? severity };
}

/** What a word or a mark says of how bad it is. */
export function severityOf(word: string): Severity {
  if (/^(?:note|info|hint|help|remark|notice|debug|i$)/i.test(word)) return 'none';
  return /^(?:[⚠wcr]$|warn|style|performance|portability|convention|refactor)/i.test(word) ? 'warning' : 'error';
}

/** A number in digits, or null where there is none. */
export function numberOf(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

function withoutMarks(text: string): { readonly rest: string; readonly severity: Severity | null } {
  let rest = text;
  let severity: Severity | null = null;
  for (let times = 0; times < 6; times++) {
    const mark = MARKS.find((one) => one.test(rest));
    const match = mark?.exec(rest);
    if (match == null) break;
    const word = match.groups?.word;
    if (word !== undefined) severity = severityOf(word);
    rest = rest.slice(match[0].length);
  }
  return { rest: rest.trimStart(), severity };
}

/** Severity, code and remarks in any order, then the message, which may end with its code. */
function readSaid(text: string): Said {
  let rest = text;
  let severity: Severity | null = null;
  let code: string | null = null;
  for (let times = 0; times < 4; times++) {
    const word: RegExpExecArray | null = severity === null ? SEVERITY.exec(rest) : null;
    const coded: RegExpExecArray | null = word === null && code === null ? CODE.exec(rest) : null;
    const match = word ?? coded ?? REMARK.exec(rest);
    if (match === null) break;
    if (word !== null) severity = severityOf(word.groups?.word ?? '');
    code = word?.groups?.code ?? coded?.groups?.code ?? coded?.groups?.rule ?? code;
    rest = rest.slice(match[0].length).trimStart();
  }
  const message = rest.replace(/\s{0,4}(?:FIXABLE\s{1,4})?━{3,200}$/, '').trim();
  const end = /[\])]$/.test(message) ? END_CODE.exec(message)?.groups : undefined;
  if (end === undefined || /\.\w{0,4}proj$/.test(end.code ?? '')) return { severity: severity ?? warningOf(message), code, message };
  severity ??= end.word === undefined ? null : severityOf(end.word);
  return { severity, code: code ?? end.code ?? end.rule ?? null, message: end.message ?? '' };
}

/** Python and others name the class of a warning first: `DeprecationWarning: …`. */
function warningOf(message: string): Severity | null {
  return /^\w{0,60}(?:Warning|Deprecated|DEPRECATED|Notice):/.test(message) ? 'warning' : null;
}

/** A diagnostic on the way into an extraction, with the lines that belong to it. */
interface Finding extends Omit<Diagnostic, 'at'> {
  readonly start: number;
  readonly end: number;
  /** What it weighs as the first of its kind; later ones weigh less. */
  readonly weight: number;
}

interface Known {
  /** Lines that a finding has taken. */
  readonly taken: Set<number>;
  /** Findings so far, by tool and severity. */
  readonly counts: Map<string, number>;
}

/** Most findings of one tool and severity that are kept. */
const MAX_KEPT = 200;
const WARNING_WEIGHT = 12;

const known = new WeakMap<Extraction, Known>();

/** Whether a finding has taken the line already. */
export function isTaken(found: Extraction, line: number): boolean {
  return knownOf(found).taken.has(line);
}

/** Counts one finding of a tool; answers how many there were before, or null where no more are kept. */
export function countFinding(found: Extraction, tool: string, severity: Diagnostic['severity']): number | null {
  const { counts } = knownOf(found);
  const key = `${tool} ${severity}`;
  const count = counts.get(key) ?? 0;
  counts.set(key, count + 1);
  return count < MAX_KEPT ? count : null;
}

/** What the finding after `count` others weighs. */
export function weightOf(severity: Diagnostic['severity'], weight: number, count: number): number {
  return severity === 'warning' ? WARNING_WEIGHT : weight - Math.min(count, 30) * 0.2;
}

/** Keeps lines from being read again by the readers that come after. */
export function take(found: Extraction, start: number, end: number): void {
  for (let line = start; line <= end; line++) knownOf(found).taken.add(line);
}

/** Adds a finding as data and as a block, unless there are too many of its kind. */
export function addFinding(log: LogText, finding: Finding, found: Extraction): void {
  const { start, end, weight: most, tool, severity, ...said } = finding;
  const count = countFinding(found, tool, severity);
  take(found, start, end);
  if (count === null) return;
  const weight = weightOf(severity, most, count);
  // A formatter has no more to say than the name of the file.
  const file = said.file ?? (isFile(said.message) && !/\s/.test(said.message) ? said.message : null);
  found.diagnostics.push({ tool, severity, ...said, file, message: said.message.slice(0, 500), at: { source: log.name, line: start } });
  found.blocks.push({ start, end, weight, reason: `${tool} ${severity}` });
}

/**
 * Puts what was said before, of another place, behind all that is said for the first time: a list that is cut still shows each message.
 * Moves the diagnostics from index `from` on.
 */
export function putRepeatsLast(found: Extraction, from: number): void {
  const seen = new Set<string>();
  const [firsts, repeats]: [Diagnostic[], Diagnostic[]] = [[], []];
  for (const one of found.diagnostics.splice(from)) {
    const key = `${one.severity} ${one.code} ${normaliseMessage(one.message)}`;
    (seen.has(key) ? repeats : firsts).push(one);
    seen.add(key);
  }
  append(found.diagnostics, [...firsts, ...repeats]);
}

function knownOf(found: Extraction): Known {
  const state = known.get(found) ?? { taken: new Set(), counts: new Map() };
  known.set(found, state);
  return state;
}
