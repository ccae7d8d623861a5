import type { SourceText } from '../domain/build.ts';

export interface ArchivedSource {
  readonly name: string;
  readonly kind: SourceText['kind'];
  readonly lines: number;
  readonly bytes: number;
  readonly notes: readonly string[];
}

/** Keeps the full logs and reports of builds, compressed, masked before they come here. Lines are 1-based over `split('\n')`. */
export interface BuildArchive {
  readonly driver: string;
  /** Stores or replaces one text of a build. NUL characters are replaced by U+FFFD: PostgreSQL refuses them. */
  put(buildId: string, source: SourceText): Promise<void>;
  list(buildId: string): Promise<ArchivedSource[]>;
  /** The whole text, or null where there is none. */
  read(buildId: string, name: string): Promise<string | null>;
  /** Lines `from`..`to`, inclusive, clipped to the text; at most 2,000 lines. */
  lines(
    buildId: string,
    name: string,
    from: number,
    to: number,
  ): Promise<{ readonly lineStart: number; readonly lines: readonly string[] } | null>;
  remove(buildId: string): Promise<void>;
}
