import { findBlockEnd, findLineBelow, type LogText } from '../../lines/lines.ts';
import { computeWeight, type Extractor, type Findings, type Groups } from '../extraction.ts';
import { parseNumber, parseSeverity } from './place.ts';

/**
 * One way in which a tool words its complaints. Named groups used: file, line, column, severity, code,
 * message.
 */
interface DiagnosticShape {
  readonly pattern: RegExp;
  readonly severity?: 'error' | 'warning';
  readonly weight?: number;
  /** Lines that still belong to the complaint above them: source lines, carets, notes. */
  readonly belongs?: RegExp;
  /** The message on a line below, as the group `said`, if the first line only names the kind of problem. */
  readonly messageBelow?: RegExp;
  /** The place on a line below the message, with groups as in `pattern`. */
  readonly placeBelow?: RegExp;
  /**
   * Lines of the block that tell most: each is also a block of its own, so that it stays where the whole does
   * not fit.
   */
  readonly telling?: RegExp;
  /** It only points up to what was said before: weighed, but no diagnostic of its own. */
  readonly pointer?: boolean;
  /**
   * True if the text is a message, not a diagnostic: a service, a network or a file system answered, and no
   * source is to blame.
   */
  readonly isMessage?: boolean;
}

/** A tool of a table: what it says that {@link anyTool} cannot read by its shape alone. */
export interface Tool {
  readonly tool: string;
  /** Literals without which no line fits a shape. */
  readonly literals: readonly string[];
  /** The first shape that fits a line reads it. */
  readonly says: readonly DiagnosticShape[];
}

const MAX_BLOCK = 40;

/** A line that is indented. */
export const INDENTED = /^\s{1,200}\S/;

/** Creates one reader for each tool of a table, named after the tool. */
export function createReaders(tools: readonly Tool[]): Extractor[] {
  return tools.map(({ tool, literals, says }) => ({
    name: tool,
    literals,
    extract: (log, lines, found) => {
      const before = found.diagnostics.length;
      let end = 0;
      for (const line of lines)
        if (line > end && !found.isTaken(line)) end = Math.max(end, readLine(tool, says, log, line, found));
      found.putRepeatsLast(before);
    },
  }));
}

/** Reads the complaint on one line; answers the last line of its block, or 0 if there is none. */
function readLine(
  tool: string,
  says: readonly DiagnosticShape[],
  log: LogText,
  line: number,
  found: Findings,
): number {
  const text = log.line(line);
  for (const shape of says) {
    const groups = shape.pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const end =
      shape.belongs === undefined
        ? line
        : findBlockEnd(log, line, MAX_BLOCK, (below) => shape.belongs?.test(below) === true);
    add(tool, shape, groups, log, line, end, found);
    return end;
  }
  return 0;
}

function add(
  tool: string,
  shape: DiagnosticShape,
  groups: Groups,
  log: LogText,
  start: number,
  end: number,
  found: Findings,
): void {
  const severity = shape.severity ?? (parseSeverity(groups.severity ?? '') === 'error' ? 'error' : 'warning');
  const most = shape.weight ?? 78;
  const reason = `${tool} ${severity}`;
  const message =
    (findGroupsBelow(log, start, end + 1, shape.messageBelow)?.said ?? groups.message ?? '').trim() ||
    log.line(start).trim();
  if (shape.pointer === true || shape.isMessage === true) {
    const weight = found.weigh(tool, severity, most);
    if (weight === null) return;
    found.block(start, end, weight, reason);
    if (shape.isMessage === true) {
      found.take(start, start);
      found.message(start, message, weight);
    }
  } else {
    const { file = null, line, column } = findGroupsBelow(log, start, end, shape.placeBelow) ?? groups;
    const place = { file, line: parseNumber(line), column: parseNumber(column) };
    found.finding({ tool, severity, code: groups.code ?? null, message, ...place, start, end, weight: most });
  }
  for (let at = start + 1; shape.telling !== undefined && at <= end; at++)
    if (shape.telling.test(log.line(at))) found.block(at, at, computeWeight(severity, most, 0) + 1, reason);
}

/** Returns the groups of the first line below a complaint that the pattern matches. */
function findGroupsBelow(
  log: LogText,
  start: number,
  end: number,
  pattern: RegExp | undefined,
): Groups | undefined {
  const line =
    pattern === undefined
      ? null
      : findLineBelow(log, start + 1, end - start - 1, (text) => pattern.test(text));
  return line === null ? undefined : pattern?.exec(log.line(line))?.groups;
}
