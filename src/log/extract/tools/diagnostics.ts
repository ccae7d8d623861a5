import { findBlockEnd, findLineBelow, type LogText } from '../../lines/lines.ts';
import { computeWeight, type Extractor, type Findings, type Groups } from '../extraction.ts';
import { parseNumber, parseSeverity } from './place.ts';

/** One form of a tool's messages. Named groups: file, line, column, severity, code, message. */
interface DiagnosticShape {
  readonly pattern: RegExp;
  readonly severity?: 'error' | 'warning';
  readonly weight?: number;
  /** Matches the lines below that belong to the message: source lines, carets, notes. */
  readonly belongs?: RegExp;
  /**
   * Matches a line below with the message, as the group `said`, if the first line names only the kind of
   * problem.
   */
  readonly messageBelow?: RegExp;
  /** Matches a line below the message with the place, in the same groups as `pattern`. */
  readonly placeBelow?: RegExp;
  /**
   * Matches the most informative lines of the block. Each becomes a block of its own, so that it stays if the
   * whole block does not fit.
   */
  readonly informative?: RegExp;
  /**
   * Matches a line that shows that the tool ran, if other tools say the same words. Without such a line
   * nearby, the message is not read as this tool's.
   */
  readonly ran?: RegExp;
  /** True if the line only refers to an earlier message. It gets a weight, but no diagnostic. */
  readonly pointer?: boolean;
  /**
   * True if the text is a message without a source file: it came from a service, a network or a file system.
   */
  readonly isMessage?: boolean;
}

/** A row for one tool, with the messages that {@link anyTool} cannot read by their form alone. */
export interface Tool {
  readonly tool: string;
  /** Literals. Every line that matches a shape contains one of them. */
  readonly literals: readonly string[];
  /** The shapes of its messages. The first one that matches a line is used. */
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

/** Reads the message on one line. Returns the last line of its block, or 0 if there is no message. */
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
    if (groups === undefined || (shape.ran !== undefined && !hasRun(log, line, shape.ran))) continue;
    const end =
      shape.belongs === undefined
        ? line
        : findBlockEnd(log, line, MAX_BLOCK, (below) => shape.belongs?.test(below) === true);
    add(tool, shape, groups, log, line, end, found);
    return end;
  }
  return 0;
}

/** The lines above and below a message in which its tool must show itself. */
const [SEEN_ABOVE, SEEN_BELOW] = [5_000, 200];

function hasRun(log: LogText, line: number, ran: RegExp): boolean {
  const last = Math.min(log.lineCount, line + SEEN_BELOW);
  for (let at = Math.max(1, line - SEEN_ABOVE); at <= last; at++)
    if (ran.test(log.line(at).slice(0, MAX_SEEN))) return true;
  return false;
}

/** The part of a line in which a command is looked for, in characters. */
const MAX_SEEN = 400;

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
  for (let at = start + 1; shape.informative !== undefined && at <= end; at++)
    if (shape.informative.test(log.line(at)))
      found.block(at, at, computeWeight(severity, most, 0) + 1, reason);
}

/** Returns the groups of the first matching line below a message. */
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
