import type { Diagnostic } from '../../../domain/failure.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';

/** How a tool words its complaints. Named groups used: file, line, column, severity, code, message. */
export interface DiagnosticShape {
  readonly pattern: RegExp;
  /** The tool that words it so, where a family holds several; the family's name otherwise. */
  readonly tool?: string;
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

/** Most complaints of one tool and severity that are kept as data and weighed. */
const MAX_KEPT = 200;
const MAX_BLOCK = 40;

interface Counts {
  error: number;
  warning: number;
}

/** A reader for tools that print one complaint a line, perhaps with source lines below. */
export function diagnosticExtractor(name: string, literals: readonly string[], shapes: readonly DiagnosticShape[]): Extractor {
  return {
    name,
    literals,
    extract: (log, lines, found) => {
      const kept: Counts = { error: 0, warning: 0 };
      let end = 0;
      for (const line of lines) {
        if (kept.error >= MAX_KEPT) break;
        if (line > end) end = Math.max(end, readDiagnostic(name, log, line, shapes, found, kept));
      }
    },
  };
}

/** Reads the complaint on one line; answers the last line of its block, or 0 where there is none. */
function readDiagnostic(
  family: string,
  log: LogText,
  line: number,
  shapes: readonly DiagnosticShape[],
  found: Extraction,
  kept: Counts,
): number {
  const text = log.line(line);
  for (const shape of shapes) {
    const groups = shape.pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const severity = shape.severity ?? severityOf(groups.severity);
    const index = kept[severity]++;
    if (index >= MAX_KEPT) return line;
    const end = shape.belongs === undefined ? line : blockEnd(log, line, MAX_BLOCK, shape.belongs);
    const tool = shape.tool ?? family;
    const weight = severity === 'warning' ? 12 : (shape.weight ?? 78) - Math.min(index, 30) * 0.2;
    addFinding(log, line, end, { tool, severity, weight, shape, groups }, found);
    addBlocks(log, line, end, weight, `${tool} ${severity}`, shape, found);
    return end;
  }
  return 0;
}

interface Finding {
  readonly tool: string;
  readonly severity: 'error' | 'warning';
  readonly weight: number;
  readonly shape: DiagnosticShape;
  readonly groups: Readonly<Record<string, string | undefined>>;
}

function addFinding(log: LogText, line: number, end: number, finding: Finding, found: Extraction): void {
  const { tool, severity, weight, shape, groups } = finding;
  if (shape.pointer === true) return;
  const said = (messageBelow(log, line, end, shape) ?? groups.message ?? '').trim();
  const message = (said || log.line(line).trim()).slice(0, 500);
  const at = { source: log.name, line };
  if (shape.isMessage === true) {
    found.messages.push({ text: message, at, weight });
    return;
  }
  const below = shape.placeBelow === undefined ? {} : placeBelow(log, line, end, shape.placeBelow);
  found.diagnostics.push({ tool, severity, ...placeOf(groups), ...below, message, at });
}

function addBlocks(
  log: LogText,
  line: number,
  end: number,
  weight: number,
  reason: string,
  shape: DiagnosticShape,
  found: Extraction,
): void {
  found.blocks.push({ start: line, end, weight, reason });
  if (shape.telling === undefined) return;
  for (let at = line + 1; at <= end; at++)
    if (shape.telling.test(log.line(at))) found.blocks.push({ start: at, end: at, weight: weight + 1, reason });
}

function severityOf(word: string | undefined): 'error' | 'warning' {
  return /^(?:w$|warn|note|info|style|performance|portability|hint)/i.test(word ?? '') ? 'warning' : 'error';
}

function placeOf(groups: Finding['groups']): Pick<Diagnostic, 'file' | 'line' | 'column' | 'code'> {
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
