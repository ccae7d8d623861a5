import assert from 'node:assert/strict';
import { openText } from '../../../../src/log/lines/lines.ts';
import { readStructure, STRUCTURE_LITERALS } from '../../../../src/log/sections.ts';

/** Reads the marks of CI systems in any text. Every range must be within the log and begin before it ends. */
export function fuzz(data: Buffer): void {
  const log = openText(data.toString('utf8'));
  const lines = Array.from({ length: log.lineCount }, (_, at) => at + 1);
  const marked = lines.filter((line) =>
    STRUCTURE_LITERALS.some((literal) => log.line(line).toLowerCase().includes(literal.toLowerCase())),
  );
  const { failedSections, exits, afterwards, echoes } = readStructure(log, marked);
  const ranges = [
    ...failedSections.map(({ lineStart, lineEnd }) => ['section', lineStart, lineEnd] as const),
    ...[...afterwards, ...echoes].map((range) => ['range', range.start, range.end] as const),
    ...exits.map(({ line }) => ['exit', line, line] as const),
  ];
  for (const [what, from, to] of ranges) {
    assert(Number.isInteger(from) && Number.isInteger(to), `${what} ${from} to ${to}`);
    assert(from >= 1 && from <= to && to <= log.lineCount, `${what} ${from} to ${to} of ${log.lineCount}`);
  }
}
