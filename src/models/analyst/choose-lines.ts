import type { Evidence } from '../../domain/evidence.ts';
import type { LogPosition, Section } from '../../domain/failure.ts';
import { findMax } from '../../lib/collections.ts';
import { isTrace } from '../../log/commands/command-lines.ts';
import { classifyRole, type LineRole } from '../../log/line-roles.ts';
import { cleanLine, stripEscapes } from '../../log/lines/clean.ts';
import { BREAK } from '../../log/reports/passages.ts';
import { cutLine } from './cut-line.ts';

/** The parts of the evidence that a judgment must see, and those that it should see first. */
export interface Focus {
  /**
   * The length limit of the evidence in characters, about four to a token. Requested, cited and quoted lines
   * have additional room, up to `BEYOND` times as much.
   */
  readonly room: number;
  /** The positions of the reader's findings, most informative first. */
  readonly informative?: readonly LogPosition[];
  /**
   * The output of the failed steps. Lines of other steps are shown only if they are informative. Absent or
   * empty if no step is known.
   */
  readonly steps?: readonly Stretch[];
  /** Ids of evidence that was only added because there was room. */
  readonly fill?: ReadonlySet<string>;
  /** Ids of the evidence that the last questions returned. It is shown as it was requested. */
  readonly newest?: ReadonlySet<string>;
  /** Ids of the evidence that the answer cites. It is shown in full. */
  readonly cited?: ReadonlySet<string>;
  /**
   * True if documents, history and similar items are listed by name only, unless they were just requested or
   * are cited. A plan needs no advice, and a verdict needs only the evidence of the answer.
   */
  readonly onlyNamed?: boolean;
  /** Lines that the answer quotes. They are always shown, with the lines around them. */
  readonly quoted?: readonly LogPosition[];
}

/** A range of lines of a log, including both ends. */
type Stretch = Pick<Section, 'source' | 'lineStart' | 'lineEnd'>;

/** A line of a log or file that is part of some evidence. */
export interface Line {
  readonly source: string;
  readonly line: number;
  text: string;
  readonly ids: string[];
  /** The priority. Lines from `MUST` on are always shown. */
  worth: number;
}

export interface ChosenLines {
  /** The shown lines of each source, in the order of the source. */
  readonly lines: readonly Line[];
  /** The numbers of the unshown lines that repeat a shown one, by the shown line. */
  readonly repeats: ReadonlyMap<Line, readonly number[]>;
  /** Lines that must be shown but do not fit. */
  readonly missing: readonly Line[];
  /** All lines of the evidence, by source and number. */
  readonly known: LinesBySource;
}

type LinesBySource = ReadonlyMap<string, ReadonlyMap<number, Line>>;
export type Placed = Evidence & { readonly lineStart: number };

const MUST = 1_000;
/** The room for lines that must be shown, as a multiple of the usual one. */
export const BEYOND = 3;
/** The maximum number of lines of cited evidence that is shown before longer evidence. */
const SHORT = 12;
/**
 * The maximum length of a line of a log, and of a requested line, in characters. Longer lines are lists,
 * dumps and progress.
 */
const [MAX_LINE, MAX_REQUESTED_LINE] = [400, 1_200];
/**
 * The number of lines above and below an informative one: its causes, and the continuation of its message.
 */
const [ABOVE, BELOW] = [4, 6];
const ROLE_WORTH: Readonly<Record<LineRole, number>> = {
  cause: 200,
  wrapper: 150,
  ending: 150,
  notice: 40,
  passing: 10,
  progress: 10,
  echo: 10,
  blank: 0,
};
/** The minimum priority of a line that is shown without being requested, cited or quoted. */
const NOISE = 100;
const [INFORMATIVE, NEAR, CITED, LOOKED_UP, COMMAND] = [700, 450, 800, 260, 180];
/** The weight factor for the output of other steps. */
const ELSEWHERE = 0.6;
/**
 * The maximum number of lines of the failed step's script and settings, from the first one on, and of those
 * that are always shown.
 */
const [MOST_OF_SCRIPT, MUST_OF_SCRIPT] = [20, 3];
/** A log of at most this many lines is shown without regard to its steps. */
const SHORT_LOG = 300;
/** The amount by which the priority decreases from one informative line to the next. */
const PER_RANK = 5;
const LAST_RANK = 40;

/**
 * Chooses the lines of logs and files to show. Requested, cited and quoted lines come first, then lines that
 * the reader found informative with their context, then other possible causes. Progress, passing tests and
 * echoed scripts are left out, and a line that says the same as a shown one is only counted.
 */
export function chooseLines(placed: readonly Placed[], focus: Focus, room: number): ChosenLines {
  const known = weighLines(placed, focus);
  const all = [...known.values()].flatMap((lines) => [...lines.values()]);
  const byWorth = all
    .filter(({ worth }) => worth >= NOISE)
    .toSorted((left, right) => right.worth - left.worth);
  const kept = new Set<Line>();
  const repeats = new Map<Line, number[]>();
  const missing: Line[] = [];
  const first = new Map<string, Line>();
  const forms = new Map<string, Line[]>();
  const fragments: Line[] = [];
  const similar: Line[] = [];
  const left = { usual: room, must: focus.room * BEYOND };
  const keep = (line: Line) => {
    const cost = line.text.length + String(line.line).length + 3;
    const budget = line.worth >= MUST ? 'must' : 'usual';
    if (cost <= left[budget]) {
      kept.add(line);
      left[budget] -= cost;
    } else if (budget === 'must') {
      // Later lines are left out as well, so that one range contains all missing lines and can be requested.
      left.must = 0;
      missing.push(line);
    }
  };
  const count = (line: Line, same: Line) => {
    if (kept.has(same)) repeats.set(same, [...(repeats.get(same) ?? []), line.line]);
  };
  for (const line of byWorth) {
    const words = normalizeRepeat(line.text);
    const same = first.get(words);
    const isFree = line.worth < MUST;
    if (same !== undefined && isFree && words.length >= FRAGMENT) count(line, same);
    else if (same !== undefined && isFree) fragments.push(line);
    else {
      first.set(words, line);
      const alike = forms.get(toForm(words)) ?? [];
      if (isFree && alike.length > 0) similar.push(line);
      else keep(line);
      forms.set(toForm(words), [...alike, line]);
    }
  }
  for (const line of similar) {
    const alike = forms.get(toForm(normalizeRepeat(line.text))) ?? [];
    const [same = line] = alike;
    if (alike.filter((other) => kept.has(other)).length < MAX_SIMILAR) keep(line);
    else count(line, same);
  }
  // A fragment such as a brace or "else:" is shown only if a line next to it is.
  for (const line of fragments) {
    const near = known.get(line.source);
    if ([line.line - 1, line.line + 1].some((number) => isKept(near?.get(number), kept))) keep(line);
  }
  for (const line of findBetween(known, kept, repeats)) kept.add(line);
  const lines = [...known.values()].flatMap((some) =>
    [...some.values()].filter((line) => kept.has(line)).sort((left, right) => left.line - right.line),
  );
  return { lines, repeats, missing, known };
}

/** The maximum number of shown lines that differ only in their numbers. */
const MAX_SIMILAR = 8;

function toForm(words: string): string {
  return words.replace(/\d+/g, '0');
}

/**
 * The minimum length of a repeated line. Shorter lines are fragments of code, whose repetition means nothing.
 */
const FRAGMENT = 12;

/** Replaces the parts of a line that differ at each print, such as addresses, identifiers and times. */
export function normalizeRepeat(text: string): string {
  return text.replace(VOLATILE, '0').trim();
}

const VOLATILE = new RegExp(
  String.raw`0x[0-9a-f]+|\b[0-9a-f]{8,}(?:-[0-9a-f]{4,12}){0,4}\b|\b\d\d:\d\d:\d\d(?:[.,]\d+)?|` +
    String.raw`\b\d{4}-\d\d-\d\d\b|\b\d+(?:\.\d+)? ?(?:ms|s|%|[kKM]i?B(?:/s)?)(?=\W|$)|\[ *\d+%\]`,
  'gi',
);

/**
 * Finds single lines with content between two shown lines. Leaving one out would save nothing, because a mark
 * would take its place.
 */
function findBetween(
  known: LinesBySource,
  kept: ReadonlySet<Line>,
  repeats: ReadonlyMap<Line, readonly number[]>,
): Line[] {
  const counted = new Set([...repeats.values()].flat());
  return [...known.values()].flatMap((lines) =>
    [...lines.values()].filter(
      (line) =>
        !kept.has(line) &&
        !counted.has(line.line) &&
        line.worth >= ROLE_WORTH.notice &&
        isKept(lines.get(line.line - 1), kept) &&
        isKept(lines.get(line.line + 1), kept),
    ),
  );
}

function isKept(line: Line | undefined, kept: ReadonlySet<Line>): boolean {
  return line !== undefined && kept.has(line);
}

function weighLines(placed: readonly Placed[], focus: Focus): Map<string, Map<number, Line>> {
  const sources = new Map<string, Map<number, Line>>();
  for (const item of placed) {
    const known = sources.get(item.source) ?? new Map<number, Line>();
    sources.set(item.source, known);
    const isRequested = focus.newest?.has(item.id) === true;
    const isCited = focus.cited?.has(item.id) === true;
    const most = isRequested || isCited ? MAX_REQUESTED_LINE : MAX_LINE;
    const lines = stripEscapes(item.text).split('\n');
    for (const [offset, raw] of lines.entries()) {
      const number = item.lineStart + offset;
      const line = known.get(number) ?? createLine(item, number);
      known.set(number, line);
      line.text = joinParts(line, item, cleanLine(raw), most);
      line.ids.push(item.id);
      const usual = item.tool === 'log' ? ROLE_WORTH[classifyRole(line.text)] : LOOKED_UP;
      const cited = isCited && line.text.trim() !== '' ? MUST + (lines.length <= SHORT ? 1 : 0) : 0;
      line.worth = Math.max(line.worth, usual, cited, isRequested ? MUST : 0);
    }
  }
  for (const [source, lines] of sources) weighSteps(source, lines, focus);
  for (const [rank, { source, line }] of (focus.informative ?? []).entries()) {
    const less = Math.min(rank, LAST_RANK) * PER_RANK;
    raise(sources.get(source), line, INFORMATIVE - less, NEAR - less);
  }
  for (const { source, line } of focus.quoted ?? []) raise(sources.get(source), line, MUST + 2, CITED);
  return sources;
}

function createLine({ source }: Placed, line: number): Line {
  return { source, line, text: '', ids: [], worth: 0 };
}

/** Joins the parts of a line, because excerpts of a report may each contain a different part. */
function joinParts({ text, ids }: Line, { tool }: Placed, part: string, most: number): string {
  const cut = cutLine(part, most);
  if (ids.length === 0 || cut.includes(text)) return cut;
  if (tool !== 'log' || text.includes(part)) return text;
  return cutLine(`${text}${BREAK}${part}`, most);
}

/**
 * Lowers the weight of echoed scripts, except for the first lines of the failed step's script, of the output
 * of other steps, and of what the runner says of itself. A short log keeps its other steps.
 */
function weighSteps(source: string, lines: ReadonlyMap<number, Line>, { steps = [], fill }: Focus): void {
  const here = steps.filter((step) => step.source === source);
  const isInFailed = ({ line }: Line) =>
    here.some(({ lineStart, lineEnd }) => line >= lineStart && line <= lineEnd);
  const isShort = findMax([...lines.keys()], 0) <= SHORT_LOG;
  const inOrder = [...lines.values()].sort((left, right) => left.line - right.line);
  let script = Number.POSITIVE_INFINITY;
  let [last, isCleanUp] = [0, false];
  for (const line of inOrder) {
    // If lines are missing, the end of the echo may be among them.
    if (line.line !== last + 1) script = Number.POSITIVE_INFINITY;
    last = line.line;
    if (ECHO_BEGINS.test(line.text)) [script, isCleanUp] = [0, false];
    else if (SET_UP.test(line.text)) script = MOST_OF_SCRIPT;
    else if (CLEAN_UP.test(line.text)) isCleanUp = true;
    const isInside = here.length === 0 || isInFailed(line);
    if (line.worth < LOOKED_UP) {
      if (isCleanUp) line.worth = 0;
      else if (script < Number.POSITIVE_INFINITY)
        line.worth = weighScript(script, { isFailed: isInside && here.length > 0, isShort });
      else if (!isInside) {
        const isFill = !isShort && line.ids.every((id) => fill?.has(id));
        line.worth = isFill ? 0 : line.worth * ELSEWHERE;
      }
    }
    script = ECHO_ENDS.test(line.text) ? Number.POSITIVE_INFINITY : script + 1;
  }
  for (const { lineStart, lineEnd } of here) {
    const trace = inOrder.findLast(({ line, text }) => line >= lineStart && line <= lineEnd && isTrace(text));
    if (trace !== undefined) trace.worth = Math.max(trace.worth, MUST);
  }
}

/** Weighs a line of an echoed script by its place in it. */
function weighScript(
  place: number,
  { isFailed, isShort }: { readonly isFailed: boolean; readonly isShort: boolean },
): number {
  if (!isFailed) return isShort && place === 0 ? COMMAND : 0;
  if (place < MUST_OF_SCRIPT) return MUST;
  return place < MOST_OF_SCRIPT ? COMMAND : 0;
}

/**
 * Patterns for the block in which GitHub Actions and similar systems print the script of a step, its shell
 * and its variables before running it.
 */
const [ECHO_BEGINS, ECHO_ENDS] = [/(?:##\[group\]|::group::)Run /, /(?:##\[endgroup\]|::endgroup::)/];
/** The groups in which GitHub's runner describes its machine and the token of the job. */
const SET_UP = /^##\[group\](?:Runner Image|Operating System|GITHUB_TOKEN Permissions)/;
/** The line from which on GitHub's runner undoes what the steps set up. */
const CLEAN_UP = /^Post job cleanup\.?\s*$/;

function raise(lines: ReadonlyMap<number, Line> | undefined, at: number, worth: number, near: number): void {
  for (let offset = -ABOVE; offset <= BELOW; offset++) {
    const line = lines?.get(at + offset);
    if (line === undefined || (line.worth < NOISE && offset !== 0)) continue;
    line.worth = Math.max(line.worth, offset === 0 ? worth : near - 10 * Math.abs(offset));
  }
}
