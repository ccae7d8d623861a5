import type { LogText } from '../lines.ts';
import type { Extraction, Extractor } from './extraction.ts';
import { blockEnd } from './extraction.ts';

/** How a tool words its complaints. Named groups used: file, line, column, severity, code, message. */
export interface DiagnosticShape {
  readonly pattern: RegExp;
  readonly severity?: 'error' | 'warning';
  readonly weight?: number;
  /** Whether a line still belongs to the complaint above it: source lines, carets, notes. */
  readonly belongs?: (line: string) => boolean;
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
    const severity = shape.severity ?? (/warn|note|info/i.test(groups['severity'] ?? '') ? 'warning' : 'error');
    const end = shape.belongs === undefined ? line : blockEnd(log, line, MAX_BLOCK, shape.belongs);
    found.diagnostics.push({
      tool,
      severity,
      file: groups['file'] ?? null,
      line: numberOf(groups['line']),
      column: numberOf(groups['column']),
      code: groups['code'] ?? null,
      message: (groups['message'] ?? text).trim().slice(0, 500),
      at: { source: log.name, line },
    });
    const weight = severity === 'warning' ? 12 : (shape.weight ?? 78) - Math.min(index, 30) * 0.2;
    found.blocks.push({ start: line, end, weight, reason: `${tool} ${severity}` });
    return end;
  }
  return 0;
}

function numberOf(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}
