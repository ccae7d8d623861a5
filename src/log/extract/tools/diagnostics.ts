import type { Diagnostic } from '../../../domain/failure.ts';
import type { LogText } from '../../lines/lines.ts';
import { blockEnd, type Extraction, type Extractor } from '../extraction.ts';
import { addFinding, countFinding, isTaken, numberOf, putRepeatsLast, severityOf, take, weightOf } from './place.ts';

/** One way in which a tool words its complaints. Named groups used: file, line, column, severity, code, message. */
export interface DiagnosticShape {
  readonly pattern: RegExp;
  readonly severity?: 'error' | 'warning';
  readonly weight?: number;
  /** Whether a line still belongs to the complaint above it: source lines, carets, notes. */
  readonly belongs?: (line: string) => boolean;
  /** Where the first line only names the kind of trouble: the message on a line below it, or null if that line says nothing. */
  readonly messageBelow?: (line: string) => string | null;
  /** Where the place stands on a line below the message: groups as in `pattern`, or null if that line names none. */
  readonly placeBelow?: RegExp;
  /** Lines of the block that tell most: each is also a block of its own, so that it stays where the whole does not fit. */
  readonly telling?: RegExp;
  /** It only points up to what was said before: weighed, but no diagnostic of its own. */
  readonly pointer?: boolean;
  /** What it says is a message, not a diagnostic: a service, a network or a file system answered, and no source is to blame. */
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

/** Whether a line is indented. */
export function indented(line: string): boolean {
  return /^\s{1,200}\S/.test(line);
}

/** One reader for each tool of a table, by the tool's name. */
export function readersOf(tools: readonly Tool[]): Extractor[] {
  return tools.map(({ tool, literals, says }) => ({
    name: tool,
    literals,
    extract: (log, lines, found) => {
      const before = found.diagnostics.length;
      let end = 0;
      for (const line of lines) if (line > end && !isTaken(found, line)) end = Math.max(end, readLine(tool, says, log, line, found));
      putRepeatsLast(found, before);
    },
  }));
}

/** Reads the complaint on one line; answers the last line of its block, or 0 where there is none. */
function readLine(tool: string, says: readonly DiagnosticShape[], log: LogText, line: number, found: Extraction): number {
  const text = log.line(line);
  for (const shape of says) {
    const groups = shape.pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const end = shape.belongs === undefined ? line : blockEnd(log, line, MAX_BLOCK, shape.belongs);
    add(tool, shape, groups, log, line, end, found);
    return end;
  }
  return 0;
}

function add(
  tool: string,
  shape: DiagnosticShape,
  groups: Readonly<Record<string, string | undefined>>,
  log: LogText,
  line: number,
  end: number,
  found: Extraction,
): void {
  const severity = shape.severity ?? (severityOf(groups.severity ?? '') === 'error' ? 'error' : 'warning');
  const most = shape.weight ?? 78;
  const said = (messageBelow(log, line, end, shape) ?? groups.message ?? '').trim() || log.line(line).trim();
  if (shape.pointer === true || shape.isMessage === true) {
    const count = countFinding(found, tool, severity);
    if (count === null) return;
    const weight = weightOf(severity, most, count);
    found.blocks.push({ start: line, end, weight, reason: `${tool} ${severity}` });
    if (shape.isMessage === true) {
      take(found, line, line);
      found.messages.push({ text: said.slice(0, 500), at: { source: log.name, line }, weight });
    }
  } else {
    const place = { file: groups.file ?? null, line: numberOf(groups.line), column: numberOf(groups.column) };
    const below = shape.placeBelow === undefined ? {} : placeBelow(log, line, end, shape.placeBelow);
    const what = { tool, severity, code: groups.code ?? null, message: said };
    addFinding(log, { ...what, ...place, ...below, start: line, end, weight: most }, found);
  }
  if (shape.telling === undefined) return;
  for (let at = line + 1; at <= end; at++)
    if (shape.telling.test(log.line(at)))
      found.blocks.push({ start: at, end: at, weight: weightOf(severity, most, 0) + 1, reason: `${tool} ${severity}` });
}

function placeBelow(log: LogText, line: number, end: number, pattern: RegExp): Partial<Pick<Diagnostic, 'file' | 'line' | 'column'>> {
  for (let at = line + 1; at <= end; at++) {
    const groups = pattern.exec(log.line(at))?.groups;
    if (groups !== undefined) return { file: groups.file ?? null, line: numberOf(groups.line), column: numberOf(groups.column) };
  }
  return {};
}

function messageBelow(log: LogText, line: number, end: number, shape: DiagnosticShape): string | null {
  if (shape.messageBelow === undefined) return null;
  for (let at = line + 1; at <= Math.min(log.lineCount, end + 1); at++) {
    const message = shape.messageBelow(log.line(at));
    if (message !== null) return message;
  }
  return null;
}
