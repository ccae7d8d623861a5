import { inFailedSteps, keepLines } from '../extract/run.ts';
import { newFindings } from '../green/green-diff.ts';
import { overlaps } from '../line-ranges.ts';
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
