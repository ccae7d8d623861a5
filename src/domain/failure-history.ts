import type { z } from 'zod';
import { Build } from './build.ts';

/** A build of the same repository that proves something of a failure, with what people are shown of it. */
export const ProvingBuild = Build.pick({
  id: true,
  pipeline: true,
  number: true,
  attempt: true,
  url: true,
  commit: true,
  author: true,
  receivedAt: true,
});
export type ProvingBuild = z.infer<typeof ProvingBuild>;

/**
 * Occurrences of one cause of a build around it, in the same repository. The same failure has the same
 * fingerprint and, where tests failed, the same tests.
 */
export interface FailureHistory {
  /** The fingerprint does not say why it failed, so that what it shares with others proves little. */
  readonly generic: boolean;
  /** True if the build is of the default branch itself. */
  readonly isDefault: boolean;
  /** The default branch, by the builds of the same pipeline before this one; null where none is known. */
  readonly defaultBranch: {
    readonly name: string;
    /** The status of its newest build before this one. */
    readonly status: Build['status'];
    readonly newest: ProvingBuild;
    /** It fails there since that build; null where the newest one does not have this failure. */
    readonly since: ProvingBuild | null;
    /** Builds there that had it in a row, up to the newest one. */
    readonly times: number;
    /** The newest build there that had it, if that is at most two weeks ago. */
    readonly lastFailed: ProvingBuild | null;
    /** The first build there that passed after the last failed one, up to now; null if none did. */
    readonly mended: ProvingBuild | null;
  } | null;
  /** Other pull requests, of other people, that had it in the seven days before it was first seen here. */
  readonly otherPullRequests: number;
  /** True if it was ever seen outside of this pull request, branch and commit before this build. */
  readonly seenElsewhere: boolean;
  /** The pull request or branch of the build, by the builds of the same pipeline. */
  readonly own: {
    /** The time of its first occurrence here within two weeks; that of this build if it never was before. */
    readonly firstAt: string;
    /** Builds here that had it in a row, this one included. */
    readonly times: number;
    /** The newest build here before this one, if it passed. */
    readonly passed: ProvingBuild | null;
  };
  /**
   * The host elsewhere that it could not reach, if other repositories met it within minutes, and how many;
   * absent if none did.
   */
  readonly incident?: { readonly host: string; readonly repositories: number };
  /** The first later run of the same commit that passed; null if none did. */
  readonly passedAgain: ProvingBuild | null;
  /** The failed test with the fewest flakes; null where no test or too many failed. */
  readonly test: {
    readonly runs: number;
    /** Flakes in the newest runs, those of this pull request, branch and build left out. */
    readonly flakes: number;
    /** Those of them that failed in the same way. */
    readonly alike: number;
    /** True if it passed in the newest build of the default branch before this one. */
    readonly passedOnDefault: boolean;
    /** True if passing builds of the default branch report tests, and none of them has ever run this one. */
    readonly isNew: boolean;
  } | null;
}
