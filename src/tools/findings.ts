import { TriageError } from '../domain/errors.ts';
import type { Finding } from '../domain/evidence.ts';
import type { PlainFinding } from '../domain/finding-data.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { NO_ERROR } from '../log/fingerprint/failures.ts';
import { classifyRole, type LineRole } from '../log/line-roles.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import type { ArchivedSource, BuildArchive } from '../ports/build-archive.ts';

/** The maximum number of findings of one answer. */
export const MAX_FINDINGS = 10;
/** The maximum number of characters of one finding's text. */
const MAX_TEXT = 4_000;
const MAX_TITLE = 300;
const MAX_DATA = 4_000;
/** The maximum number of items of a list or an object in a finding's data. */
const MAX_ITEMS = 200;
const MAX_DEPTH = 4;

/**
 * Control characters without meaning for readers. `\t` and `\n` are kept, so that lines keep their numbers.
 */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Removes terminal escapes, control characters, and text that a carriage return overwrote. */
export function cleanText(text: string): string {
  const plain = stripEscapes(text);
  const visible = plain.includes('\r') ? plain.split('\n').map(getLastShown).join('\n') : plain;
  return visible.replace(CONTROLS, '');
}

/**
 * Cleans, masks and cuts a finding. A finding with lines is cut at a line end, and its `lineEnd` is adjusted.
 */
export async function boundFinding(
  finding: Finding,
  mask: (text: string) => string | Promise<string>,
): Promise<Finding> {
  const text = await mask(cleanText(finding.text));
  const cut =
    finding.lineStart === undefined ? { text: text.slice(0, MAX_TEXT) } : cutLines(text, finding.lineStart);
  const { data, ...rest } = finding;
  return {
    ...rest,
    ...cut,
    title: (await mask(cleanText(finding.title.replace(/\s+/g, ' ').trim()))).slice(0, MAX_TITLE),
    ...(data === undefined ? {} : { data: await boundData(data, mask) }),
  };
}

function cutLines(text: string, lineStart: number): { text: string; lineEnd: number } {
  let kept = text;
  if (text.length > MAX_TEXT) {
    const end = text.lastIndexOf('\n', MAX_TEXT);
    kept = end <= 0 ? text.slice(0, MAX_TEXT) : text.slice(0, end);
  }
  return { text: kept, lineEnd: lineStart + kept.split('\n').length - 1 };
}

async function boundData(
  data: Readonly<Record<string, unknown>>,
  mask: (text: string) => string | Promise<string>,
): Promise<Record<string, unknown>> {
  const bounded: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data).slice(0, 40)) {
    bounded[key] = await boundValue(value, mask, MAX_DEPTH);
  }
  return bounded;
}

/**
 * Masks and cuts texts at every depth up to the limit. Deeper values are dropped, because they would not be
 * checked for secrets.
 */
async function boundValue(
  value: unknown,
  mask: (text: string) => string | Promise<string>,
  depth: number,
): Promise<unknown> {
  if (typeof value === 'string') return (await mask(cleanText(value))).slice(0, MAX_DATA);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value))
    return Promise.all(value.slice(0, MAX_ITEMS).map((item) => boundValue(item, mask, depth - 1)));
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(
    await Promise.all(
      entries.map(async ([key, item]) => [key, await boundValue(item, mask, depth - 1)] as const),
    ),
  );
}

function getLastShown(line: string): string {
  const end = line.endsWith('\r') ? line.replace(/\r{1,9}$/, '') : line;
  return end.slice(end.lastIndexOf('\r') + 1);
}

/** Consecutive lines of a log; `lineStart` is 1-based. */
export interface LogLines {
  readonly lineStart: number;
  readonly lines: readonly string[];
}

/**
 * Returns the archived text that a call is about: the named one, or else the log in which the build failed.
 * Returns null if nothing is archived.
 */
export async function chooseSource(
  archive: BuildArchive,
  subject: TriageSubject,
  named?: string,
): Promise<ArchivedSource | null> {
  const sources = await archive.list(subject.build.id);
  if (named !== undefined) {
    const found = sources.find((source) => source.name === named);
    if (found !== undefined) return found;
    const names = sources.map((source) => source.name).slice(0, 20);
    throw new TriageError(
      'invalid-input',
      `source: there is no log named ${named.slice(0, 200)}; available: ${names.join(', ') || 'none'}`,
    );
  }
  const likely = [subject.failedSections[0], subject.exits[0], subject.excerpts[0]].flatMap(
    (place) => place?.source ?? [],
  );
  const logs = sources.filter((source) => source.kind === 'log');
  const biggest = [...logs].sort((left, right) => right.lines - left.lines)[0];
  return (
    likely.flatMap((name) => sources.find((source) => source.name === name) ?? [])[0] ??
    biggest ??
    sources[0] ??
    null
  );
}

/**
 * Returns lines of a text as one finding, within the size limit of a finding. Lines that do not fit are
 * dropped at the ends farthest from `focus`. Returns null if all lines are blank.
 */
export function findWindowAround(
  source: string,
  title: string,
  window: LogLines,
  focus: number,
): PlainFinding | null {
  const lines = window.lines.map(cleanText);
  const last = lines.length - 1;
  if (lines.every((line) => line.trim() === '')) return null;
  let low = Math.min(Math.max(focus - window.lineStart, 0), last);
  let high = low;
  let size = lines[low]?.length ?? 0;
  for (let grew = true; grew; ) {
    grew = false;
    for (const next of [low - 1, high + 1]) {
      const line = lines[next];
      if (line === undefined || size + line.length + 1 > MAX_TEXT) continue;
      size += line.length + 1;
      low = Math.min(low, next);
      high = Math.max(high, next);
      grew = true;
    }
  }
  return toFinding(source, title, window.lineStart + low, lines.slice(low, high + 1));
}

/**
 * Returns all lines, in as many findings as needed, up to the maximum for one answer. Findings of blank lines
 * are left out.
 */
export function listWindowPieces(source: string, title: string, window: LogLines): PlainFinding[] {
  const findings: PlainFinding[] = [];
  let piece: string[] = [];
  let pieceStart = window.lineStart;
  let size = 0;
  for (const [index, raw] of window.lines.entries()) {
    const line = cleanText(raw);
    if (piece.length > 0 && size + line.length + 1 > MAX_TEXT) {
      findings.push(toFinding(source, title, pieceStart, piece));
      piece = [];
      size = 0;
      pieceStart = window.lineStart + index;
    }
    piece.push(line);
    size += line.length + 1;
  }
  if (piece.length > 0) findings.push(toFinding(source, title, pieceStart, piece));
  const informative = findings.filter(({ text }) => text.trim() !== '');
  return informative.slice(0, MAX_FINDINGS);
}

function toFinding(source: string, title: string, lineStart: number, lines: readonly string[]): PlainFinding {
  const lineEnd = lineStart + lines.length - 1;
  return {
    title: `${title}, lines ${lineStart}–${lineEnd}`,
    text: lines.join('\n'),
    source,
    lineStart,
    lineEnd,
  };
}

/** The maximum length of a question about the failure, in characters. */
const MAX_QUERY = 1_500;
const MAX_LINE = 300;

/** Exit codes that name a cause: time limits, missing commands, signals. */
const NAMES_CAUSE = /\b(?:12[467]|13[4-9]|14[0-3])\.?$/;
const SAYS_NOTHING: ReadonlySet<LineRole> = new Set(['blank', 'ending', 'echo', 'passing', 'progress']);

/**
 * Returns the text of the failure, one fact per line, most informative first, as the query for retrieval. It
 * is already masked.
 */
export function formatFailureText(subject: TriageSubject): string {
  const lines = [
    ...subject.failures.flatMap(({ message }) => (message === NO_ERROR ? [] : message.split('\n'))),
    ...subject.diagnostics.slice(0, 5).map((item) => [item.code, item.message].filter(Boolean).join(': ')),
    ...subject.exceptions.slice(0, 5).map((item) => `${item.type}: ${item.message}`),
    ...subject.messages.slice(0, 8).map((item) => item.text),
    ...subject.failingTests.slice(0, 3).flatMap((test) => test.message?.split('\n') ?? []),
    ...(subject.excerpts[0]?.text.split('\n').slice(-12).reverse() ?? []),
  ];
  return listInformativeLines(lines.join('\n')).join('\n').slice(0, MAX_QUERY);
}

/** Returns the specific lines of a text, each once, trimmed and cut to 300 characters. */
export function listInformativeLines(text: string): string[] {
  const lines = stripEscapes(text)
    .split('\n')
    .map((line) =>
      cleanLine(line)
        .replace(/^(?:##\[error\]|::error[^:]{0,200}::|E {3,})/, '')
        .trim()
        .slice(0, MAX_LINE),
    );
  return [...new Set(lines)].filter((line) => /\p{L}{3}/u.test(line) && tells(line));
}

function tells(line: string): boolean {
  return !SAYS_NOTHING.has(classifyRole(line)) || NAMES_CAUSE.test(line);
}

/**
 * Returns the failure in one short line, for searches that take a sentence; empty if no line is informative.
 */
export function formatFailureHeadline({ failures, exceptions, messages }: TriageSubject): string {
  const parts = [
    ...failures.flatMap(({ message }) => (message === NO_ERROR ? [] : message)),
    ...exceptions.map(({ message }) => message),
    ...messages.map(({ text }) => text),
  ];
  const lines = parts.map((text) => (text.split('\n')[0] ?? '').trim());
  return (lines.find((line) => line !== '' && tells(line)) ?? '').slice(0, 200);
}

/** Returns the name of the first failing test as its report gave it, or null. */
export function findFailingTestName(subject: TriageSubject): string | null {
  return (
    subject.failures.find((failure) => failure.test !== null)?.test?.name ??
    subject.failingTests[0]?.name ??
    null
  );
}
