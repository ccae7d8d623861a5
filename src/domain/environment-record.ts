import { z } from 'zod';

/** The kinds of things that a run uses, and that its log may show with a version. */
export const RecordedKind = z.enum([
  'image',
  'workflow',
  'action',
  'service',
  'tool',
  'os',
  'python',
  'npm',
  'cargo',
  'go',
  'maven',
  'ruby',
  'php',
  'nuget',
  'env',
]);
export type RecordedKind = z.infer<typeof RecordedKind>;

/** A version of something that a run used. All texts are quoted from the log and untrusted. */
export const RecordedVersion = z.object({
  kind: RecordedKind,
  name: z.string(),
  /** The version, a digest or a commit; empty for the name of a variable. Several are joined by ", ". */
  version: z.string(),
  /** The line of the log that shows it last. 0 if only a stored record is available. */
  line: z.int(),
});
export type RecordedVersion = Readonly<z.infer<typeof RecordedVersion>>;

/** The requirement that chose a package's version, as an installer names it. */
export interface StatedRequirement {
  readonly name: string;
  /** The range, such as ">=2". Empty for a package that is named without a version. */
  readonly range: string;
  /** The file, such as "requirements.txt". Null if the installer does not say. */
  readonly from: string | null;
}

/** The environment in which a job ran, as far as its log shows it. */
export interface EnvironmentRecord {
  /** The name of the log. */
  readonly log: string;
  readonly versions: readonly RecordedVersion[];
  readonly requirements: readonly StatedRequirement[];
  /** The seconds that each step took, in order, as far as the log has times. */
  readonly steps: readonly { readonly name: string; readonly seconds: number }[];
}

/** The maximum number of entries of a record. A larger record is cut in the order of names. */
export const MAX_RECORDED = 3_000;
