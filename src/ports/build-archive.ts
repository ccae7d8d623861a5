import { z } from 'zod';
import { SourceKind, type SourceText } from '../domain/build.ts';

/** What is known of a text without opening it. */
export const ArchivedSource = z.object({
  name: z.string(),
  kind: SourceKind,
  lines: z.int(),
  bytes: z.int(),
  notes: z.array(z.string()).readonly(),
});
export type ArchivedSource = z.infer<typeof ArchivedSource>;

/** A line of a stored text; 1-based. */
export interface NumberedLine {
  readonly line: number;
  readonly text: string;
}

/** Consecutive whole lines of a stored text, joined by newlines, as UTF-8; `lineStart` is 1-based. Valid until the next piece. */
export interface TextPiece {
  readonly lineStart: number;
  readonly bytes: Buffer;
}

/** Keeps the full logs and reports of builds, compressed, masked before they come here. Lines are 1-based over `split('\n')`. */
export interface BuildArchive {
  readonly driver: string;
  /** Stores or replaces one text of a build. NUL characters are replaced by U+FFFD: PostgreSQL refuses them. */
  put(buildId: string, source: SourceText): Promise<void>;
  list(buildId: string): Promise<ArchivedSource[]>;
  /** The whole text, or null where there is none, or where it is not held because it is too large: then there is `linesWith`. */
  read(buildId: string, name: string): Promise<string | null>;
  /** Lines `from`..`to`, inclusive, clipped to the text; at most 2,000 lines. */
  lines(
    buildId: string,
    name: string,
    from: number,
    to: number,
  ): Promise<{ readonly lineStart: number; readonly lines: readonly string[] } | null>;
  /**
   * Where the archive can search its texts by itself: the lines that hold one of the literals, in ASCII letters of any case, also where
   * terminal escapes interrupt it; every line where no literal is given. In order, some at a time, a line of more than a megabyte in parts.
   * Nothing where there is no such text. Texts may not be replaced meanwhile.
   */
  linesWith?(buildId: string, name: string, literals: readonly string[]): Iterable<readonly NumberedLine[]>;
  /**
   * The whole text, in order and in pieces, of which few are in memory at a time; the newline between two pieces belongs to neither. Nothing
   * where there is no such text. Throws `storage-failed`, retryable, where the text is replaced or removed meanwhile.
   */
  pieces(buildId: string, name: string): AsyncIterable<TextPiece>;
  remove(buildId: string): Promise<void>;
  /** What readiness says of it, beginning with "ok" where texts can be stored and read. Throws where it does not answer. */
  check?(): Promise<string>;
  /** Does what could not be done at once, as far as possible: what was kept elsewhere meanwhile is brought home, what is to be gone is deleted. */
  settle?(signal: AbortSignal): Promise<SettledTexts>;
  /** Closes connections of its own. */
  close?(): Promise<void>;
}

/** What was put off and is done now, and what still is not. */
export interface SettledTexts {
  /** Texts brought home. */
  readonly moved: number;
  /** Builds whose texts were deleted. */
  readonly removed: number;
  /** Texts that still wait to be brought home. */
  readonly waiting: number;
  /** Builds whose texts are still to be deleted. */
  readonly pending: number;
}
