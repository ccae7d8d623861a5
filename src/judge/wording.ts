import type { Quote } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { Diagnostic, LogPosition } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import { BREAK } from '../log/reports/passages.ts';
import type { Fact, Facts } from './facts.ts';
import type { Match } from './rule.ts';

/** What the wording of an answer draws on: the deciding line, and everything that was read from the log around it. */
export interface Words {
  readonly line: string;
  readonly log: string;
  readonly facts: Facts;
}

const MOST = 200_000;

/** The words of a match and of the log that it was found in. */
export function wordsFor(match: Match, facts: Facts): Words {
  const log = `${facts.all.map((fact) => fact.text).join('\n')}\n${facts.shown}`;
  return { line: match.fact.text, log: log.slice(0, MOST), facts };
}

/** The first group of the first pattern that is found in the line, else in the log; null where none is. */
export function find({ line, log }: Words, ...patterns: readonly RegExp[]): string | null {
  for (const text of [line, log]) {
    for (const pattern of patterns) {
      const groups: readonly (string | undefined)[] = pattern.exec(text)?.slice(1) ?? [];
      const word = groups.find((group) => group !== undefined);
      if (word !== undefined) return word.trim();
    }
  }
  return null;
}

/** On one line, without the punctuation at its end, and at most so long; cut between words where that is possible. */
export function oneLine(text: string, most: number): string {
  const line = text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.:;,]+$/, '');
  if (line.length <= most) return line;
  const cut = line.slice(0, most - 1);
  const space = cut.lastIndexOf(' ');
  return `${(space > most * 0.6 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

/** "a", "a and b", "a, b and 3 more". */
export function listed(words: readonly string[], most = 3): string {
  if (words.length <= 1) return words[0] ?? '';
  if (words.length <= most) return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
  return `${words.slice(0, most - 1).join(', ')} and ${words.length - most + 1} more`;
}

const STEM = 6;

/** The words of names in camel, snake or kebab case, lower-cased and cut to their stem, without those that say nothing. */
export function wordsIn(names: string): ReadonlySet<string> {
  const words = names.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [];
  return new Set(words.map((word) => word.toLowerCase().slice(0, STEM)).filter((word) => word.length > 2 && !EMPTY.has(word)));
}

/** The share of a file name's words that are among the given words: 0..1. */
export function likeness(path: string, words: ReadonlySet<string>): number {
  const own = wordsIn((path.split(/[\\/]/).at(-1) ?? '').replace(/\.\w{1,8}$/, ''));
  return own.size === 0 ? 0 : [...own].filter((word) => words.has(word)).length / own.size;
}

const EMPTY: ReadonlySet<string> = new Set(['test', 'tests', 'should', 'with', 'and', 'the', 'java', 'for', 'from', 'not', 'get', 'set']);

const SPOKEN: Readonly<Record<string, string>> = {
  compile_error: 'The code does not compile',
  type_error: 'The types do not match',
  null_reference: 'The code uses a missing value',
  crash: 'The program crashed',
  link_error: 'The program does not link',
  lint_failure: 'A lint check failed',
  formatting_failure: 'The code is not formatted to the project style',
  assertion: 'A test assertion failed',
  snapshot: 'The output does not match the stored snapshot',
  flaky_timing: 'A test timed out waiting for a condition',
  threshold: 'A threshold was not met',
  timeout: 'A time limit expired',
  out_of_memory: 'The machine or process ran out of memory',
  disk_full: 'The disk is full',
  network: 'The network or a remote host did not answer',
  service_unavailable: 'A service did not answer',
  runner_lost: 'The runner was lost',
  rate_limited: 'A service is limiting requests',
  permission_or_secret: 'A permission or secret is missing',
  workflow_config: 'The pipeline or one of its commands is misconfigured',
  environment: 'The job environment lacks a tool or has the wrong version',
  process_gate: 'A process rule was violated',
  upstream_job: 'The job failed because another job failed',
  missing_file: 'The build cannot find a file or folder',
  missing_module: 'A module could not be found',
  version_conflict: 'Dependency versions are incompatible',
  dependency_install: 'A dependency could not be installed',
  vulnerability: 'A dependency has a known vulnerability',
  docker_build: 'The image could not be built',
};

/** A kind as the beginning of a sentence. */
export function spokenKind(kind: string): string {
  return SPOKEN[kind] ?? 'The cause is not clear';
}

/** The tool's name as people know it; extractors see only a format that several tools share. */
export function toolName({ tool, code }: Pick<Diagnostic, 'tool' | 'code'>): string {
  if (/^TS\d/.test(code ?? '')) return 'tsc';
  if (/^CS\d/.test(code ?? '')) return 'csc';
  if (tool === 'compiler') return 'the compiler';
  // Its form was read, and nothing says whose it is.
  return tool === 'tool' ? 'the failed command' : tool;
}

/** What a fact says, without the tool that rules match a diagnostic by. */
export function wordsOf(fact: Fact): string {
  return fact.origin === 'diagnostic'
    ? fact.text.replace(/^[\w+.-]{1,40}: /, '')
    : fact.text.replace(/^##\[error\]|^(?:npm (?:ERR!|error)|\[ERROR\]|ERROR:|error:|E:) ?/, '');
}

/** At most so many lines from a position on, as a person saw them; none where no excerpt shows it. */
export function linesFrom(at: LogPosition | null, { excerpts }: Pick<TriageSubject, 'excerpts'>, most: number): string[] {
  if (at === null) return [];
  const excerpt = excerpts.find((one) => one.source === at.source && one.lineStart <= at.line && at.line <= one.lineEnd);
  if (excerpt === undefined) return [];
  const lines = excerpt.text.split('\n').slice(at.line - excerpt.lineStart, at.line - excerpt.lineStart + most);
  return lines.map((line) => cleanLine(stripEscapes(line)).trimEnd());
}

/** Words that are literally on a line, and the evidence that shows that line. */
export interface Quotation {
  readonly evidenceId: string;
  readonly quote: Quote;
}

const MAX_QUOTE = 400;

/** Quotes the line a fact was read from, out of evidence that holds it; null where no evidence shows it. */
export function quoteFact(fact: Fact, evidence: readonly Evidence[]): Quotation | null {
  const atLine = fact.source === null || fact.line === null ? null : quoteLine(fact.source, fact.line, evidence);
  const said = wordsOf(fact);
  if (atLine !== null && squeeze(atLine.quote.text).includes(squeeze(said).slice(0, 40))) return atLine;
  const elsewhere = quoteText(said, evidence);
  return elsewhere ?? (atLine !== null && shares(atLine.quote.text, fact.text) ? atLine : null);
}

/** Quotes one line of a source by its number; of a report's line that says several, the one that holds `needle`, or the first. */
export function quoteLine(source: string, line: number, evidence: readonly Evidence[], needle = ''): Quotation | null {
  for (const item of evidence) {
    const { lineStart, lineEnd } = item;
    if (item.source !== source || lineStart === undefined || lineEnd === undefined || line < lineStart || line > lineEnd) continue;
    const parts = (item.text.split('\n')[line - lineStart] ?? '').split(BREAK);
    const text = literal(parts.find((part) => squeeze(part).includes(needle)) ?? parts[0] ?? '');
    if (text !== '') return { evidenceId: item.id, quote: { source, line, text } };
  }
  return null;
}

/** Quotes the first line of the evidence that holds the beginning of a text. */
export function quoteText(text: string, evidence: readonly Evidence[]): Quotation | null {
  const wanted = squeeze(text.split('\n').find((line) => line.trim().length > 3) ?? '').slice(0, 120);
  const body = wanted.replace(/^[\w.+-]{1,30}: (?:[A-Z]{0,4}\d{1,6}: )?/, '');
  const needles = [wanted, body, wanted.slice(0, 60)].filter((needle) => needle.length >= 8);
  for (const needle of needles) {
    for (const item of evidence) {
      if (item.lineStart === undefined) continue;
      const offset = item.text.split('\n').findIndex((raw) => squeeze(cleanLine(stripEscapes(raw))).includes(needle));
      const quotation = offset < 0 ? null : quoteLine(item.source, item.lineStart + offset, [item], needle);
      if (quotation !== null) return quotation;
    }
  }
  return null;
}

/** The part of a stored line that a person reads and that is in it letter for letter. */
function literal(raw: string): string {
  const shown = cleanLine(stripEscapes(raw)).trim();
  if (shown !== '' && raw.includes(shown)) return shown.slice(0, MAX_QUOTE);
  // Colours inside the line: the longest stretch between two escapes is literal.
  const pieces = raw.split(/\u001b\[[0-?]{0,60}[ -/]{0,10}[@-~]|[\u001b\r]/).map((piece) => piece.trim());
  return pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '').slice(0, MAX_QUOTE);
}

function shares(quoted: string, text: string): boolean {
  const wordsOfText = (some: string) => some.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
  const words = new Set(wordsOfText(text));
  return wordsOfText(quoted).some((word) => words.has(word));
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
