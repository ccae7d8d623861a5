import type { RecordedKind } from '../../domain/environment-record.ts';

/** One form in which logs show a version that a job uses. */
export interface RecordRow {
  readonly kind: RecordedKind;
  /** The name, if the pattern has no group `name`. */
  readonly name?: string;
  /**
   * Groups: `name` and `version`. If the line reports a change, `to` is the new version and takes precedence.
   */
  readonly pattern: RegExp;
  readonly matches: readonly (readonly [line: string, name: string, version: string])[];
  readonly ignores: readonly string[];
}
