import type { Diagnostic } from '../../../domain/failure.ts';
import type { LogText } from '../../lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';

/** How a tool words its complaints. Named groups used: file, line, column, severity, code, message. */
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
  /** It only points up to what was said before: weighed, but no diagnostic of its own. */
  readonly pointer?: boolean;
}

/** Most complaints of one tool that are kept as data; the blocks of all are weighed. */
const MAX_KEPT = 200;
const MAX_BLOCK = 40;

/** A reader for tools that print one complaint a line, perhaps with source lines below. */
export function diagnosticExtractor(name: string, literals: readonly string[], shapes: readonly DiagnosticShape[]): Extractor {
  return {
    name,
    literals,
    extract: (log, lines, found) => {
      let kept = 0;
      let end = 0;
      for (const line of lines) {
        if (line <= end || kept >= MAX_KEPT) continue;
        const read = readDiagnostic(name, log, line, shapes, found, kept);
        if (read === 0) continue;
        end = read;
        kept++;
      }
    },
  };
}

/** Reads the complaint on one line; answers the last line of its block, or 0 where there is none. */
function readDiagnostic(
  tool: string,
  log: LogText,
  line: number,
  shapes: readonly DiagnosticShape[],
  found: Extraction,
  index: number,
): number {
  const text = log.line(line);
  for (const shape of shapes) {
    const groups = shape.pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const severity = shape.severity ?? (/warn|note|info/i.test(groups.severity ?? '') ? 'warning' : 'error');
    const end = shape.belongs === undefined ? line : blockEnd(log, line, MAX_BLOCK, shape.belongs);
    const below = messageBelow(log, line, end, shape);
    const message = (below ?? groups.message ?? '').trim().slice(0, 500) || text.trim().slice(0, 500);
    const place =
      shape.placeBelow === undefined ? placeOf(groups) : { ...placeOf(groups), ...placeBelow(log, line, end, shape.placeBelow) };
    if (shape.pointer !== true) found.diagnostics.push({ tool, severity, ...place, message, at: { source: log.name, line } });
    const weight = severity === 'warning' ? 12 : (shape.weight ?? 78) - Math.min(index, 30) * 0.2;
    found.blocks.push({ start: line, end, weight, reason: `${tool} ${severity}` });
    return end;
  }
  return 0;
}

function placeOf(groups: { [name: string]: string | undefined }): Pick<Diagnostic, 'file' | 'line' | 'column' | 'code'> {
  return { file: groups.file ?? null, line: numberOf(groups.line), column: numberOf(groups.column), code: groups.code ?? null };
}

function placeBelow(log: LogText, line: number, end: number, pattern: RegExp): Partial<Diagnostic> {
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

function numberOf(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}
