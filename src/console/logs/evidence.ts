import type { Analysis } from '../../domain/analysis.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { Range } from './window.ts';

/** Lines of one log that a piece of evidence stands on. */
export interface EvidenceLines extends Range {
  /** "E3" */
  readonly id: string;
  readonly title: string;
  readonly source: string;
  /** Where the claims that rest on it are; null: nowhere to go. */
  readonly href: string | null;
}

/** The evidence of an analysis that stands on lines of the texts of these names, in the order of its numbers. */
export function evidenceLines(
  { evidence }: Pick<Analysis, 'evidence'>,
  names: ReadonlySet<string>,
  hrefOf: (id: string) => string | null,
): EvidenceLines[] {
  return evidence.flatMap((one) => {
    const lines = names.has(one.source) ? linesOf(one) : null;
    return lines === null ? [] : [{ ...lines, id: one.id, title: one.title, source: one.source, href: hrefOf(one.id) }];
  });
}

/** Evidence that can be pointed at names a line. */
export function linesOf({ lineStart, lineEnd = lineStart }: Evidence): Range | null {
  if (lineStart === undefined || lineEnd === undefined) return null;
  return { from: lineStart, to: Math.max(lineStart, lineEnd) };
}
