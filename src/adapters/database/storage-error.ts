import { messageOf, TriageError } from '../../domain/errors.ts';

/**
 * SQLSTATEs after which the same call may succeed: class 08 (connection), 57P (shutdown, restart), serialization failure,
 * deadlock, a full disk, a server that has no connection left, a transaction that idled too long (as in a frozen process), and our own
 * limits of a statement and of a lock. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const RETRYABLE_STATE = /^(08|57P|40001$|40P01$|53[13]00$|25P03$|57014$|55P03$)/;

/** A statement or lock that took its whole limit, as while another release migrates: it is tried again later, and not at once. */
const TOO_LONG = /^(57014|55P03)$/;

/** What sockets and pg's own client say when the connection is gone; these errors carry no SQLSTATE. */
const CONNECTION_LOST =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)|Connection terminated|not queryable|trying to connect|Query read timeout/;

/** The pool's words where every connection stays busy; asking again at once would only lengthen the line. */
const NONE_FREE = /timeout exceeded when trying to connect/;

/** Turns what the driver threw into `storage-failed`; a TriageError stays as it is. Details name the SQLSTATE, never values. */
export function toStorageError(error: unknown): TriageError {
  if (error instanceof TriageError) return error;
  const state = textField(error, 'code');
  const isSqlState = state !== null && /^[0-9A-Z]{5}$/.test(state);
  const retryable = isSqlState ? RETRYABLE_STATE.test(state) : CONNECTION_LOST.test(state ?? messageOf(error));
  const busy = state === null ? NONE_FREE.test(messageOf(error)) : TOO_LONG.test(state);
  const details = { state, constraint: textField(error, 'constraint'), table: textField(error, 'table'), ...(busy ? { busy } : {}) };
  return new TriageError('storage-failed', `The database request failed: ${messageOf(error)}`, { retryable, cause: error, details });
}

function textField(error: unknown, name: string): string | null {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : null;
  return typeof value === 'string' ? value : null;
}
