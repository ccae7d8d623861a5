import { z } from 'zod';
import { explainIssues, summarizeIssues } from '../lib/explain-issue.ts';
import { computeBackoff } from '../lib/time.ts';

/**
 * The stable codes of the errors that we throw on purpose. The HTTP API derives the status from them, and the
 * CLI the exit code.
 */
export type TriageErrorCode =
  | 'invalid-input'
  | 'impossible'
  | 'too-large'
  | 'unsupported-type'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'wrong-method'
  | 'conflict'
  | 'rate-limited'
  | 'invalid-config'
  | 'locked'
  | 'timeout'
  | 'cancelled'
  | 'quota-exhausted'
  | 'upstream-auth'
  | 'upstream-failed'
  | 'storage-failed'
  | 'internal';

export interface TriageErrorOptions {
  /** True if the same call may succeed when it is repeated. This is decided where the error is created. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
  /** The milliseconds to wait before the next attempt, if the server stated them (Retry-After). */
  readonly retryAfterMs?: number;
  /** Facts for the log and the client. They must never contain secrets. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * The only error that is thrown on purpose. Its message is a sentence for people: what failed, where, and how
 * to fix it.
 */
export class TriageError extends Error {
  override readonly name = 'TriageError';
  readonly code: TriageErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: TriageErrorCode, message: string, options: TriageErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details ?? {};
  }
}

/** Returns the message of any thrown value. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a file is in the way',
  EEXIST: 'a file is in the way',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would exceed the allowed size',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links form a loop',
};

/**
 * Returns the reason why the system refused a file or folder: in plain words for common error codes,
 * otherwise the error's message.
 */
export function getErrorReason(error: unknown): string {
  return SYSTEM_WORDS[getSystemCode(error)] ?? getErrorMessage(error);
}

/** Returns the code of a system error, such as "ENOENT". Returns an empty text for any other error. */
export function getSystemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/**
 * Returns true if another attempt may succeed. A TriageError states this itself; any other error is final.
 */
export function isRetryable(error: unknown): boolean {
  return error instanceof TriageError && error.retryable;
}

/**
 * Computes the delay before the next attempt in milliseconds, after `retries` retries. It is 2 s, doubled
 * each time, at most `longestMs`, with jitter unless `random` is 1. A longer delay that the server requested
 * (Retry-After) takes precedence, up to `longestAskedMs`.
 */
export function computeRetryDelay(
  retries: number,
  error: unknown,
  {
    longestMs,
    longestAskedMs,
    random,
  }: { readonly longestMs: number; readonly longestAskedMs: number; readonly random?: number | undefined },
): number {
  const backoff = computeBackoff({ firstMs: 2_000, longestMs }, retries + 1, random);
  return Math.max(
    backoff,
    error instanceof TriageError ? Math.min(error.retryAfterMs ?? 0, longestAskedMs) : 0,
  );
}

/**
 * Creates a schema for text that a person enters. It is trimmed and must not be empty. The pattern also
 * states this in the API description.
 */
export function createTypedText(max: number) {
  return z.string().regex(/\S/, 'must not be empty').trim().max(max);
}

/** Checks an external value. Throws `invalid-input`, whose details list every wrong field. */
export function readInput<Schema extends z.ZodType>(
  what: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = explainIssues(result.error.issues, value, schema);
  throw new TriageError('invalid-input', summarizeIssues(what, issues), { details: { issues } });
}
