import { MongoError, MongoServerError } from 'mongodb';
import { messageOf, TriageError } from '../../domain/errors.ts';

/** OutOfDiskSpace: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
const OUT_OF_DISK_SPACE = 14031;
/** Unauthorized, AuthenticationFailed, AtlasError: who we are, not what we asked. */
const REFUSED = new Set([13, 18, 8000]);
/** A server that stops, steps down or was not fast enough: WriteConcernFailed, WriteConcernTimeout, shutdown, no primary, time limits. */
const PASSING = new Set([6, 7, 50, 64, 89, 91, 100, 189, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436]);

/**
 * Turns what the driver threw into a TriageError: `upstream-auth` where the server does not know us, else `storage-failed`, with
 * `details.full` where its disk is full. A TriageError stays as it is. No message names the address, which may hold a password.
 */
export function toArchiveError(error: unknown): TriageError {
  if (error instanceof TriageError) return error;
  if (error instanceof MongoServerError) return refusalOf(error);
  if (error instanceof MongoError || isAbort(error)) {
    return new TriageError('storage-failed', `MongoDB is not responding: ${error.message}`, { retryable: true, cause: error });
  }
  return new TriageError('internal', `The archive in MongoDB failed: ${messageOf(error)}`, { cause: error });
}

/** What a limit of ours, not the driver, has ended. */
export function tooSlow(limitMs: number): TriageError {
  return new TriageError('storage-failed', `MongoDB did not answer within ${limitMs} ms.`, { retryable: true });
}

/** Two wrote the same at the same moment. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}

function refusalOf(error: MongoServerError): TriageError {
  const code = Number(error.code);
  const details = { state: code, full: code === OUT_OF_DISK_SPACE };
  if (REFUSED.has(code))
    return new TriageError('upstream-auth', 'MongoDB rejects the user in FAULTLINE_MONGODB_URL.', { cause: error, details });
  if (details.full) {
    return new TriageError('storage-failed', 'The disk of MongoDB is full.', { retryable: true, cause: error, details });
  }
  const retryable = PASSING.has(code) || error.hasErrorLabel('RetryableWriteError') || error.hasErrorLabel('TransientTransactionError');
  return new TriageError('storage-failed', `The MongoDB request failed: ${error.message}`, { retryable, cause: error, details });
}

function isAbort(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}
