import type { Templates } from '../../domain/build.ts';
import type { ExitMark, Failure, LogPosition } from '../../domain/failure.ts';
import type { Block, Extraction } from '../extract/extraction.ts';
import { type LogText, openText } from '../lines/lines.ts';
import type { LineRange } from '../sections/system.ts';
import type { Structure } from '../sections.ts';
import { extractTemplates, knowsAny } from './templates.ts';

/**
 * The log of a job in green builds: the templates of each build, and the name of the newest one for people,
 * "build 1234".
 */
export interface GreenLog {
  readonly name: string;
  readonly templates: readonly Templates[];
}

/**
 * The templates that logs are compared with. Without `logs`, they apply to every log. With `logs`, each log
 * has its own templates from several green builds, and a log without an entry is not compared.
 */
export interface GreenTemplates extends Templates {
  readonly logs?: ReadonlyMap<string, GreenLog>;
}

/** The comparison of a log with a green build of the same job. Line numbers are the log's. */
export interface GreenDiff {
  /** The name of what the log is compared with, for people: "build 1234". */
  readonly name: string;
  /** The phrase that describes new lines, for people: "new since build 1234". */
  readonly since: string;
  /** Checks whether a line is new: no green build has one like it. Blank lines are never new. */
  isNew(line: number): boolean;
  /**
   * Checks whether a line counts as evidence: it is new, belongs to a failing test, or says how the job
   * ended.
   */
  isEvidence(line: number): boolean;
  /** Checks whether a line is short enough to be shown only because it is new. */
  isShort(line: number): boolean;
}

/** The weight that new lines gain. */
const GAIN = 4;
/** The weight that a block loses if green builds have some of its lines. */
const LOSS = 60;
/** The weights of blocks of new lines, near something informative and elsewhere. */
const UNREAD_NEAR = 50;
const UNREAD_FAR = 36;
/** The maximum distance in lines at which a line counts as near an informative block. */
const REACH = 6;
/**
 * The maximum length of a line that is shown only because it is new. Longer ones are progress bars or dumps.
 */
const MAX_LINE = 2_000;
/** The maximum number of known lines between new lines that are kept with them. */
const BRIDGE = 2;
/** The maximum number of lines of a log that are searched for new ones. */
const MAX_LINES = 400_000;
const MAX_RUNS = 2_000;
/** The number of lines before and after a diagnostic or exception that are compared together with it. */
const NEAR = 6;
/** The maximum number of lines of a block that are searched for findings. */
const MAX_BLOCK = 1_000;
/** The maximum number of lines of a failing test that are kept as its own. */
const MAX_TEST = 60;
/** The maximum number of lines whose result is remembered, so that a repeated line is not compared again. */
const MAX_REMEMBERED = 20_000;
/** The limits on templates in memory while one build is read: enough for a whole log. */
const WHOLE_LOG = { templates: 300_000, characters: 40_000_000 };

/**
 * Creates the templates of a green log for one reading. The templates that are stored have lower limits; see
 * `extractTemplates`.
 */
export function createGreenTemplates(greenText: string): Templates {
  return extractTemplates(greenText, WHOLE_LOG);
}

/** Creates templates that apply to each log separately, from several green builds. */
export function collectGreenTemplates(logs: ReadonlyMap<string, GreenLog>): GreenTemplates {
  return { version: 1, lines: [], logs };
}

/** Returns the green log that a log is compared with, or undefined if there is none. */
export function findGreenLog(green: GreenTemplates, log: string): GreenLog | undefined {
  return green.logs === undefined ? { name: 'the green build', templates: [green] } : green.logs.get(log);
}

/** Formats the phrase that marks new lines in the reasons of excerpts. */
export function formatNewSince(name: string): string {
  return `new since ${name}`;
}

/**
 * Compares a log with green builds. Each line is compared once, when it is first needed. Returns null if
 * there is nothing to compare with.
 */
export function diffWithGreen(
  log: LogText,
  green: GreenTemplates,
  found: Extraction,
  structure: Structure,
): GreenDiff | null {
  const greenLog = findGreenLog(green, log.name);
  return greenLog === undefined ? null : compare(log, greenLog, listOwnLines(found, structure));
}

/** Determines which lines of a log are new. */
export function determineNewLines(log: LogText, green: GreenLog): Pick<GreenDiff, 'isNew'> {
  return compare(log, green, new Set());
}

function compare(
  log: LogText,
  { name, templates }: GreenLog,
  alwaysEvidence: ReadonlySet<number>,
): GreenDiff {
  const compared = new Uint8Array(log.lineCount + 2);
  const known = new Map<string, boolean>();
  const isKnown = (line: string): boolean => {
    const before = known.get(line);
    if (before !== undefined) return before;
    const answer = knowsAny(templates, line);
    if (known.size < MAX_REMEMBERED) known.set(line, answer);
    return answer;
  };
  const isNew = (line: number): boolean => {
    if (compared[line] === 0) compared[line] = isKnown(log.line(line)) ? 1 : 2;
    return compared[line] === 2;
  };
  return {
    name,
    since: formatNewSince(name),
    isNew,
    isEvidence: (line) => alwaysEvidence.has(line) || isNew(line),
    isShort: (line) => log.raw(line).length <= MAX_LINE,
  };
}

/**
 * Returns the findings on new lines, and those without a line. A message is new if its line is; a diagnostic
 * or an exception is new if any line of its block near it is, because the same message may come from another
 * place in the code. All failing tests and all blocks are kept; {@link splitBlock} reduces the blocks.
 */
export function filterNewFindings(found: Extraction, diff: GreenDiff): Extraction {
  const blocks = listBlocksAround(found);
  const isNewLine = ({ at }: { readonly at: LogPosition | null }) => at === null || diff.isEvidence(at.line);
  const isNewNear = ({ at }: { readonly at: LogPosition | null }) =>
    at === null || listNear(at.line, blocks.get(at.line)).some(diff.isEvidence);
  return {
    ...found,
    diagnostics: found.diagnostics.filter(isNewNear),
    exceptions: found.exceptions.filter(isNewNear),
    messages: found.messages.filter(isNewLine),
  };
}

/**
 * Splits a weighted block into its new parts, which gain weight, and the whole block, which loses weight. If
 * one part covers the block, only that part is returned.
 */
export function splitBlock(
  block: Block,
  diff: GreenDiff,
): { readonly parts: readonly Block[]; readonly whole: readonly Block[] } {
  const isPart = (line: number) => diff.isEvidence(line) && (block.start === block.end || diff.isShort(line));
  const runs = findRuns(block.start, block.end, isPart);
  const parts = runs.map((run): Block => {
    const reason = hasNew(run.start, run.end, diff) ? `${block.reason}, ${diff.since}` : block.reason;
    return { ...block, ...run, weight: block.weight + GAIN, reason };
  });
  const [only] = runs;
  const isWhole = runs.length === 1 && only?.start === block.start && only.end === block.end;
  return { parts, whole: isWhole ? [] : [{ ...block, weight: block.weight - LOSS }] };
}

/**
 * Returns the exits that do not occur in green builds. Always keeps the last one and those of failed steps.
 */
export function selectNewExits({ exits }: Structure, diff: GreenDiff): readonly ExitMark[] {
  return exits.filter(({ line }) => diff.isEvidence(line));
}

/** Checks whether any line of the failed steps is new, or any line of the log if it has no failed steps. */
export function hasNewLine(log: LogText, diff: GreenDiff, structure: Structure): boolean {
  return listSearchRanges(log, structure).some(({ start, end }) => hasNew(start, end, diff));
}

/**
 * Checks whether the green build has any line of this log. If it has none, the two logs are not of the same
 * job, or one of them is incomplete.
 */
export function hasKnownLine(log: LogText, diff: Pick<GreenDiff, 'isNew'>): boolean {
  for (let line = 1; line <= log.lineCount; line++)
    if (!diff.isNew(line) && log.line(line).trim() !== '') return true;
  return false;
}

/**
 * Returns blocks of new lines in the failed steps, or in the whole log if it marks none. Blocks near
 * informative ones weigh more.
 */
export function findNewBlocks(
  log: LogText,
  diff: GreenDiff,
  structure: Structure,
  informative: readonly Block[] = [],
): Block[] {
  const isShown = (line: number) => diff.isNew(line) && diff.isShort(line);
  const near = markReach(log, informative);
  return listSearchRanges(log, structure)
    .flatMap(({ start, end }) => findRuns(start, end, isShown))
    .slice(-MAX_RUNS)
    .map((run) => {
      const weight = near.subarray(run.start, run.end + 1).includes(1) ? UNREAD_NEAR : UNREAD_FAR;
      return { ...run, weight: weight + (4 * run.end) / log.lineCount, reason: diff.since };
    });
}

/** Returns the ranges in which new lines are searched for. */
function listSearchRanges(log: LogText, { failedSections }: Structure): LineRange[] {
  if (failedSections.length === 0)
    return [{ start: Math.max(1, log.lineCount - MAX_LINES), end: log.lineCount }];
  return failedSections.map(({ lineStart, lineEnd }) => ({
    start: Math.max(lineStart, lineEnd - MAX_LINES),
    end: lineEnd,
  }));
}

function markReach(log: LogText, informative: readonly Block[]): Uint8Array {
  const near = new Uint8Array(log.lineCount + 2);
  for (const { start, end } of informative)
    near.fill(1, Math.max(1, start - REACH), Math.min(end, start + MAX_BLOCK) + REACH + 1);
  return near;
}

function hasNew(start: number, end: number, diff: Pick<GreenDiff, 'isNew'>): boolean {
  for (let line = start; line <= end; line++) if (diff.isNew(line)) return true;
  return false;
}

/** Returns the runs of lines that satisfy `passes`, including up to {@link BRIDGE} other lines in between. */
export function findRuns(start: number, end: number, passes: (line: number) => boolean): LineRange[] {
  const runs: { start: number; end: number }[] = [];
  for (let line = start; line <= end; line++) {
    if (!passes(line)) continue;
    const run = runs.at(-1);
    if (run !== undefined && line - run.end <= BRIDGE + 1) run.end = line;
    else runs.push({ start: line, end: line });
  }
  return runs;
}

function listNear(line: number, block: Block | undefined): number[] {
  const start = Math.max(line - NEAR, block?.start ?? line);
  const end = Math.min(line + NEAR, block?.end ?? line);
  return Array.from({ length: end - start + 1 }, (_, i) => start + i);
}

/** Returns the longest block around each line with a diagnostic or exception. */
function listBlocksAround(found: Extraction): ReadonlyMap<number, Block> {
  const lines = new Set(
    [...found.diagnostics, ...found.exceptions].flatMap(({ at }) => (at === null ? [] : [at.line])),
  );
  const longest = new Map<number, Block>();
  for (const block of found.blocks) {
    for (const line of listLinesIn(lines, block)) {
      const other = longest.get(line);
      if (other === undefined || other.end - other.start < block.end - block.start) longest.set(line, block);
    }
  }
  return longest;
}

/**
 * Returns the lines that always count as evidence: those of failing tests up to the end of their block, and
 * those that say how the job ended.
 */
function listOwnLines(found: Extraction, structure: Structure): ReadonlySet<number> {
  const isInFailedStep = (line: number) =>
    structure.failedSections.some(({ lineStart, lineEnd }) => line >= lineStart && line <= lineEnd);
  const alwaysEvidence = new Set<number>(
    structure.exits
      .map(({ line }) => line)
      .filter((line, i, all) => i === all.length - 1 || isInFailedStep(line)),
  );
  const tests = new Set(found.failingTests.flatMap(({ at }) => (at === null ? [] : [at.line])));
  for (const line of tests) alwaysEvidence.add(line);
  for (const block of found.blocks) {
    for (const test of listLinesIn(tests, block))
      for (let line = test; line <= Math.min(block.end, test + MAX_TEST); line++) alwaysEvidence.add(line);
  }
  return alwaysEvidence;
}

function listLinesIn(lines: ReadonlySet<number>, { start, end }: Block): number[] {
  if (lines.size === 0) return [];
  return Array.from({ length: Math.min(end - start + 1, MAX_BLOCK) }, (_, i) => start + i).filter((line) =>
    lines.has(line),
  );
}

const MAX_IDENTIFYING_LINES = 5;
const MAX_LINE_CHARACTERS = 1_000;

/**
 * Returns the lines that say what a failure is about: those of its excerpt that contain a line of its
 * message, or else the lines of the message. Returns at most five, masked like the failure.
 */
export function listIdentifyingLines({ message, excerpt }: Pick<Failure, 'message' | 'excerpt'>): string[] {
  const messageLines = listTextLines(message);
  const printed = listTextLines(excerpt?.text ?? '').filter((line) =>
    messageLines.some((messageLine) => line.includes(messageLine)),
  );
  return [...new Set(printed.length > 0 ? printed : messageLines)].slice(0, MAX_IDENTIFYING_LINES);
}

/**
 * Checks whether all of these lines are in a green build's log, judging by its templates. Returns false if
 * there are none.
 */
export function areKnownLines(lines: readonly string[], templates: readonly Templates[]): boolean {
  return lines.length > 0 && lines.every((line) => knowsAny(templates, line));
}

/** Returns the lines that contain text, without prefixes and escapes. */
function listTextLines(text: string): string[] {
  const log = openText(text);
  const lines = Array.from({ length: log.lineCount }, (_, i) => log.line(i + 1).trim());
  return lines.map((line) => line.slice(0, MAX_LINE_CHARACTERS)).filter((line) => /\p{L}{3}/u.test(line));
}
