import { z } from 'zod';
import { SourceKind, type SourceText } from '../domain/build.ts';

/** The facts about a stored text that are known without opening it. */
export const ArchivedSource = z.object({
  name: z.string(),
  kind: SourceKind,
  lines: z.int(),
  bytes: z.int(),
  notes: z.array(z.string()).readonly(),
});
export type ArchivedSource = z.infer<typeof ArchivedSource>;

/** A line of a stored text with its number. */
export interface NumberedLine {
  readonly line: number;
  readonly text: string;
}

/**
 * A piece of a stored text: consecutive whole lines, joined by newlines, in UTF-8. `lineStart` is the number
 * of the first line. Valid until the next piece.
 */
export interface TextPiece {
  readonly lineStart: number;
  readonly bytes: Buffer;
}

/**
 * The archive of the full logs and reports of builds, compressed. Texts are masked before they are stored.
 * Lines are the elements of `split('\n')`, counted from 1.
 */
export interface BuildArchive {
  readonly driver: string;
  /**
   * Stores or replaces one text of a build. NUL characters are replaced by U+FFFD, because PostgreSQL refuses
   * them.
   */
  put(buildId: string, source: SourceText): Promise<void>;
  list(buildId: string): Promise<ArchivedSource[]>;
  /**
   * Returns the whole text. Returns null if there is no such text, or if it is too large to be held in
   * memory; in that case `readLinesWith` is available.
   */
  read(buildId: string, name: string): Promise<string | null>;
  /** Returns the lines from `from` to `to`, both included and limited to the text. At most 2,000 lines. */
  lines(
    buildId: string,
    name: string,
    from: number,
    to: number,
  ): Promise<{ readonly lineStart: number; readonly lines: readonly string[] } | null>;
  /**
   * Finds the lines that contain one of the literals, if the archive can search its own texts. Ignores the
   * case of ASCII letters and terminal escapes within a literal; returns every line if no literal is given.
   * Yields lines in order and in batches, and a line of more than a megabyte in parts; yields nothing if
   * there is no such text. Texts must not be replaced during the search.
   */
  linesWith?(buildId: string, name: string, literals: readonly string[]): Iterable<readonly NumberedLine[]>;
  /**
   * Yields the whole text in order and in pieces, only a few of which are in memory at a time; the newline
   * between two pieces belongs to neither. Yields nothing if there is no such text. Throws `storage-failed`,
   * retryable, if the text is replaced or removed while it is read.
   */
  pieces(buildId: string, name: string): AsyncIterable<TextPiece>;
  /**
   * Removes all texts of a build. A store outside the database deletes them when `removeElsewhere` is called.
   */
  remove(buildId: string): Promise<void>;
  /**
   * Deletes the texts of a build that were removed and that a store outside the database still has. Throws
   * `storage-failed`, retryable, if that store does not respond.
   */
  removeElsewhere?(buildId: string): Promise<void>;
  /**
   * Returns the state of the archive for the readiness check; it begins with "ok" if texts can be stored and
   * read. Throws if the archive does not respond.
   */
  check?(): Promise<string>;
  /** Deletes the remains of interrupted writes. */
  tidy?(): Promise<unknown>;
  /** Closes the archive's own connections. */
  close?(): Promise<void>;
}
