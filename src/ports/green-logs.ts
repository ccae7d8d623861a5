import type { Build, SourceText } from '../domain/build.ts';
import type { GreenBuild, Templates } from '../domain/green.ts';

/** What one log of a failed build is compared with. */
export interface GreenBasis {
  /** For people: "build 1234", "the green build". */
  readonly name: string;
  /** What the same log of each green build says, newest first; a line that any of them says is known. */
  readonly templates: readonly Templates[];
  /** The newest of the green builds; null where only its log is at hand. */
  readonly build: GreenBuild | null;
}

/** What is known of green builds, log by log. */
export interface GreenLogs {
  /**
   * What `log`, one of all the sources of a failed build, is compared with; null where no green build of it is known. Says the same as
   * the reading of that build was told. Throws what the stores throw.
   */
  of(build: Build, sources: readonly Pick<SourceText, 'name' | 'kind'>[], log: string): Promise<GreenBasis | null>;
}
