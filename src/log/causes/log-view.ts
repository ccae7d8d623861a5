import type { Extraction } from '../extract/extraction.ts';
import { EXTRACTORS, filterFailedSteps, keepLines } from '../extract/run.ts';
import { filterNewFindings } from '../green/green-diff.ts';
import { overlaps } from '../line-ranges.ts';
import type { LogText } from '../lines/lines.ts';
import type { ReadLog } from '../read-log.ts';
import { isWithin, type LineRange } from '../sections/system.ts';
import type { Structure } from '../sections.ts';

/** The part of a log that one cause is read from. Ranges ascend and do not overlap. */
export interface LogView {
  readonly visible: readonly LineRange[];
  /** Lines of other causes. How they ended says nothing about how this one did. */
  readonly foreign: readonly LineRange[];
}

/** Returns the log as if it held only the visible lines. Line numbers stay. */
export function createLogView(read: ReadLog, { visible, foreign }: LogView): ReadLog {
  const isVisible = (line: number) => isWithin(visible, line);
  const log: LogText = {
    ...read.log,
    line: (line) => (isVisible(line) ? read.log.line(line) : ''),
    hides: (line) => !isVisible(line),
  };
  const structure = keepStructure(read.structure, visible, foreign);
  const shownLines = filterFailedSteps(log, keepLines(read.all, isVisible), structure);
  const seen = read.isOnlyNew && read.diff !== null ? filterNewFindings(shownLines, read.diff) : shownLines;
  const hits = read.hits.map((lines) => lines.filter(isVisible));
  const found = { ...seen, toolchains: keepToolchainsIn(seen, hits) };
  return {
    ...read,
    log,
    structure,
    found,
    proposed: found.blocks.filter(({ start, end }) => overlaps(visible, start, end)),
    hits,
  };
}

/** Keeps the tools with output on visible lines: a finding, or a literal that only their reader looks for. */
function keepToolchainsIn(
  { diagnostics, failingTests, toolchains }: Extraction,
  hits: readonly (readonly number[])[],
): Set<string> {
  const heard = new Set([
    ...diagnostics.map(({ tool }) => tool),
    ...failingTests.map(({ framework }) => framework),
  ]);
  for (const [group, { name }] of EXTRACTORS.entries()) if ((hits[group]?.length ?? 0) > 0) heard.add(name);
  return new Set([...toolchains].filter((tool) => heard.has(tool)));
}

/** Keeps the failed steps that contain visible lines, and the exits on visible lines. */
function keepStructure(
  structure: Structure,
  visible: readonly LineRange[],
  foreign: readonly LineRange[],
): Structure {
  const failedSections = structure.failedSections.filter(({ lineStart, lineEnd }) =>
    overlaps(visible, lineStart, lineEnd),
  );
  const isOwn = (line: number) =>
    failedSections.length === 0 ||
    failedSections.some(({ lineStart, lineEnd }) => line >= lineStart && line <= lineEnd + 1);
  const exits = structure.exits.filter(({ line }) => isOwn(line) && !isWithin(foreign, line));
  return { ...structure, failedSections, exits };
}
