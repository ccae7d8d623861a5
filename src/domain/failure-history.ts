import type { z } from 'zod';
import { Build } from './build.ts';

/** A build of the same repository that proves something about a failure, with the fields that people see. */
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
 * The occurrences of one cause before and after a build, in the same repository. Two failures are the same if
 * they have the same fingerprint and, if tests failed, the same tests.
 */
export interface FailureHistory {
  /**
   * True if the fingerprint does not say why the build failed, so that a common fingerprint proves little.
   */
  readonly generic: boolean;
  /** True if the build is of the default branch itself. */
  readonly isDefault: boolean;
  /** The default branch, by earlier builds of the same pipeline. Null if none is known. */
  readonly defaultBranch: {
    readonly name: string;
    /** The status of its newest build before this one. */
    readonly status: Build['status'];
    readonly newest: ProvingBuild;
    /** The build since which it fails there. Null if the newest build does not have this failure. */
    readonly since: ProvingBuild | null;
    /** The number of consecutive builds there that had it, up to the newest one. */
    readonly times: number;
    /** The newest build there that had it, if that is at most two weeks ago. */
    readonly lastFailed: ProvingBuild | null;
    /** The first build there that passed after the last failed one, up to now. Null if none did. */
    readonly fixedBy: ProvingBuild | null;
  } | null;
  /**
   * The number of other pull requests, of other people, that had it in the seven days before it was first
   * seen here.
   */
  readonly otherPullRequests: number;
  /** True if it was ever seen outside of this pull request, branch and commit before this build. */
  readonly seenElsewhere: boolean;
  /** The history of the pull request or branch of the build, by the builds of the same pipeline. */
  readonly own: {
    /**
     * The time of its first occurrence here within two weeks. The time of this build if there was none
     * before.
     */
    readonly firstAt: string;
    /** The number of consecutive builds here that had it, including this one. */
    readonly times: number;
    /** The newest build here before this one, if it passed. */
    readonly passed: ProvingBuild | null;
  };
  /**
   * The host that it could not reach, if other repositories could not reach it within minutes either, and
   * their number. Absent if none did.
   */
  readonly incident?: { readonly host: string; readonly repositories: number };
  /** The first later run of the same commit that passed; null if none did. */
  readonly passedAgain: ProvingBuild | null;
  /** The failed test with the fewest flakes. Null if no test failed or too many did. */
  readonly test: {
    readonly runs: number;
    /** The number of flakes in the newest runs, except those of this pull request, branch and build. */
    readonly flakes: number;
    /** The number of these flakes that failed in the same way. */
    readonly alike: number;
    /** True if it passed in the newest build of the default branch before this one. */
    readonly passedOnDefault: boolean;
    /** True if passing builds of the default branch report tests, and none of them has ever run this one. */
    readonly isNew: boolean;
  } | null;
}
