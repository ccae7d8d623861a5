import type { Quote } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { Diagnostic } from '../domain/failure.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import type { Fact } from './facts.ts';

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
  unknown: 'The cause is not clear',
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

/** Words that stand literally on a line, and the evidence that shows that line. */
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

/** Quotes one line of a source by its number. */
export function quoteLine(source: string, line: number, evidence: readonly Evidence[]): Quotation | null {
  for (const item of evidence) {
    const { lineStart, lineEnd } = item;
    if (item.source !== source || lineStart === undefined || lineEnd === undefined || line < lineStart || line > lineEnd) continue;
    const text = literal(item.text.split('\n')[line - lineStart] ?? '');
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
      const quotation = offset < 0 ? null : quoteLine(item.source, item.lineStart + offset, [item]);
      if (quotation !== null) return quotation;
    }
  }
  return null;
}

/** The part of a stored line that a person reads and that stands in it letter for letter. */
function literal(raw: string): string {
  const shown = cleanLine(stripEscapes(raw)).trim();
  if (shown !== '' && raw.includes(shown)) return shown.slice(0, MAX_QUOTE);
  // Colours inside the line: the longest stretch between two escapes is literal.
  const pieces = raw.split(/\u001b\[[0-?]{0,60}[ -/]{0,10}[@-~]|[\u001b\r]/).map((piece) => piece.trim());
  return pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '').slice(0, MAX_QUOTE);
}

function shares(quoted: string, text: string): boolean {
  const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? []);
  const said = quoted.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
  return said.some((word) => words.has(word));
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
