import type { Analysis } from '../../domain/analysis.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { Range } from './window.ts';

/** Lines of one log that a piece of evidence stands on. */
export interface EvidenceLines extends Range {
  /** "E3" */
  readonly id: string;
  readonly title: string;
  readonly source: string;
  /** Whether `#E3` is to lead here. */
  readonly anchor: boolean;
  /** Where the claims that rest on it are; null: nowhere to go. */
  readonly href: string | null;
}

/** The evidence of an analysis that stands on lines of the texts of these names, in the order of its numbers. */
export function evidenceLines({ evidence }: Pick<Analysis, 'evidence'>, names: ReadonlySet<string>): (Evidence & Range)[] {
  return evidence.flatMap((one) => {
    const lines = names.has(one.source) ? linesOf(one) : null;
    return lines === null ? [] : [{ ...one, ...lines }];
  });
}

/** The tool of excerpts that the reader of the logs chose. All other evidence was asked for. */
export const READER = 'log';

/** Evidence that can be pointed at names a line. */
export function linesOf({ lineStart, lineEnd = lineStart }: Evidence): Range | null {
  if (lineStart === undefined || lineEnd === undefined) return null;
  return { from: lineStart, to: Math.max(lineStart, lineEnd) };
}
