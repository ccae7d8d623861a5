import type { RecordedKind } from '../../domain/environment-record.ts';

/** One form in which logs show what a job works with. */
export interface RecordRow {
  readonly kind: RecordedKind;
  /** The name, where the pattern has no group `name`. */
  readonly name?: string;
  /** Groups: `name`, `version`; `to` goes before `version` where something was moved. */
  readonly pattern: RegExp;
  readonly matches: readonly (readonly [line: string, name: string, version: string])[];
  readonly ignores: readonly string[];
}
