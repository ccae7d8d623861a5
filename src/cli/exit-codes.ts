import { TriageError, type TriageErrorCode } from '../domain/errors.ts';

/** What the process answers to scripts. Printed by `faultline --help`. */
export const EXIT = {
  ok: 0,
  internal: 1,
  usage: 2,
  unreadable: 3,
  refused: 4,
  noFailure: 5,
  needsPerson: 10,
  infrastructure: 11,
  belowBar: 12,
  limitReached: 13,
  interrupted: 130,
} as const;

export const EXIT_HELP = `Exit codes:
  0    success
  1    internal error
  2    wrong usage or configuration
  3    input unreadable, empty or not found
  4    a backend or model refused the request or did not respond
  5    triage, read: no failure was found in the log
  10   with --exit-code: the answer needs review
  11   with --exit-code: INFRA_ERROR
  12   replay --gate: a figure missed its bar; replay --frozen: a run changed
  13   replay: a limit was reached before all cases were done
  130  interrupted`;

const BY_CODE: Readonly<Record<TriageErrorCode, number>> = {
  'invalid-input': EXIT.unreadable,
  'too-large': EXIT.unreadable,
  'unsupported-type': EXIT.unreadable,
  'not-found': EXIT.unreadable,
  'wrong-method': EXIT.unreadable,
  'invalid-config': EXIT.usage,
  unauthenticated: EXIT.refused,
  forbidden: EXIT.refused,
  conflict: EXIT.refused,
  'rate-limited': EXIT.refused,
  locked: EXIT.refused,
  timeout: EXIT.refused,
  'quota-exhausted': EXIT.refused,
  'upstream-auth': EXIT.refused,
  'upstream-failed': EXIT.refused,
  'storage-failed': EXIT.refused,
  cancelled: EXIT.interrupted,
  internal: EXIT.internal,
};

/** What a person is told about a log in which nothing failed. */
export const NO_FAILURE = 'No failure was found in this log.';

/** The exit code for anything that was thrown. */
export function exitCodeOf(error: unknown): number {
  return error instanceof TriageError ? BY_CODE[error.code] : EXIT.internal;
}
