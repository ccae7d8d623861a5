import { inFailedSteps, keepLines } from '../extract/run.ts';
import { newFindings } from '../green/green-diff.ts';
import type { LogText } from '../lines/lines.ts';
import type { ReadLog } from '../read-log.ts';
import { isWithin, type LineRange } from '../sections/system.ts';
import type { Structure } from '../sections.ts';

/** The part of a log that one cause is read from. Ranges ascend and do not overlap. */
export interface LogView {
  readonly visible: readonly LineRange[];
  /** Lines of other causes: how they ended is not how this one did. */
  readonly foreign: readonly LineRange[];
}

/** Returns the log as if it held only the visible lines. Line numbers stay. */
export function viewLog(read: ReadLog, { visible, foreign }: LogView): ReadLog {
  const isVisible = (line: number) => isWithin(visible, line);
  const log: LogText = {
    ...read.log,
    line: (line) => (isVisible(line) ? read.log.line(line) : ''),
    hides: (line) => !isVisible(line),
  };
  const structure = viewStructure(read.structure, visible, foreign);
  const own = inFailedSteps(log, keepLines(read.all, isVisible), structure);
  const found = read.isOnlyNew && read.diff !== null ? newFindings(own, read.diff) : own;
  return {
    ...read,
    log,
    structure,
    found,
    proposed: found.blocks.filter(({ start, end }) => overlaps(visible, start, end)),
    hits: read.hits.map((lines) => lines.filter(isVisible)),
  };
}

/** Keeps the failed steps that show visible lines, and how these ended. */
function viewStructure(structure: Structure, visible: readonly LineRange[], foreign: readonly LineRange[]): Structure {
  const failedSections = structure.failedSections.filter(({ lineStart, lineEnd }) => overlaps(visible, lineStart, lineEnd));
  const isOwn = (line: number) =>
    failedSections.length === 0 || failedSections.some(({ lineStart, lineEnd }) => line >= lineStart && line <= lineEnd + 1);
  const exits = structure.exits.filter(({ line }) => isOwn(line) && !isWithin(foreign, line));
  return { ...structure, failedSections, exits };
}

/** Tells whether one of the ranges, which ascend, has a line from `start` to `end`. */
export function overlaps(ranges: readonly LineRange[], start: number, end: number): boolean {
  return ranges.some((range) => range.start <= end && range.end >= start);
}

/** Joins ranges that touch; the result ascends. */
export function joinRanges(ranges: readonly LineRange[]): LineRange[] {
  const joined: LineRange[] = [];
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (last === undefined || start > last.end + 1) joined.push({ start, end });
    else joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, end) };
  }
  return joined;
}

/** Returns what is left of the ranges without the lines of others. Both ascend. */
export function subtractRanges(ranges: readonly LineRange[], others: readonly LineRange[]): LineRange[] {
  return ranges.flatMap((range) => {
    const left: LineRange[] = [];
    let { start } = range;
    for (const other of others) {
      if (other.end < start || other.start > range.end) continue;
      if (other.start > start) left.push({ start, end: other.start - 1 });
      start = other.end + 1;
    }
    return start <= range.end ? [...left, { start, end: range.end }] : left;
  });
}
