import { TriageError } from '../../domain/errors.ts';
import { mapInParallel } from '../../lib/collections.ts';
import type { BuiltCode } from '../repository.ts';

/** The number of lines that one question to a code host returns. */
const WINDOW = 200;
const AT_ONCE = 4;

/**
 * Returns the first lines of a file, at most `most`; null if it does not exist, is too large, or is no text,
 * so that one bad file does not fail an answer about many.
 */
export async function readLines(
  { host, at, signal }: Pick<BuiltCode, 'host' | 'at' | 'signal'>,
  path: string,
  most = 6_000,
): Promise<{ readonly lines: readonly string[]; readonly totalLines: number } | null> {
  const readFrom = (lineStart: number) =>
    host.readFile({ ...at, path, lineStart, lineEnd: lineStart + WINDOW - 1 }, signal);
  try {
    const first = await readFrom(1);
    if (first === null) return null;
    const windows = Math.ceil(Math.min(first.totalLines, most) / WINDOW) - 1;
    const starts = Array.from({ length: Math.max(0, windows) }, (_, index) => 1 + (index + 1) * WINDOW);
    const rest = await mapInParallel(starts, AT_ONCE, readFrom);
    const lines = [first, ...rest].flatMap((window) => window?.lines ?? []);
    return { lines: lines.slice(0, most), totalLines: first.totalLines };
  } catch (error) {
    if (error instanceof TriageError && ['too-large', 'unsupported-type', 'not-found'].includes(error.code))
      return null;
    throw error;
  }
}
