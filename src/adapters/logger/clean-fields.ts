import { TriageError } from '../../domain/errors.ts';
import type { HideSecrets } from './hide-secrets.ts';

/** Names of fields whose text is never printed, whatever it is. */
const SECRET_NAME =
  /(?:authorization|cookie|passw(?:or)?d|passphrase|secret|(?:api|private|secret|access|signing)[_-]?key|credentials?|(?:^|[a-z_-])token)$/i;
const HIDDEN = '***';
const MAX_DEPTH = 6;
const MAX_ITEMS = 100;
/** An error that causes itself, or goes on for ever. */
const MAX_CAUSES = 5;

/**
 * The fields of a line as they may be printed: texts masked, what is named as a secret left out, errors with their type, code,
 * words, stack and causes and nothing of what their makers hung on them (requests with their headers, replies), in bounded depth and size.
 */
export function cleanFields(fields: object, hide: HideSecrets): Record<string, unknown> {
  if (fields instanceof Error) return { error: errorFields(fields, hide, 0, 0) };
  return Object.fromEntries(entriesOf(fields, hide, 0));
}

function entriesOf(fields: object, hide: HideSecrets, depth: number): [string, unknown][] {
  return Object.entries(fields)
    .slice(0, MAX_ITEMS)
    .map(([name, value]) => {
      const isSecret = SECRET_NAME.test(name) && typeof value !== 'number' && typeof value !== 'boolean' && value != null;
      return [name, isSecret ? HIDDEN : cleaned(value, hide, depth + 1)];
    });
}

function cleaned(value: unknown, hide: HideSecrets, depth: number): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'function' || typeof value === 'symbol' ? undefined : value;
  if (value instanceof Error) return errorFields(value, hide, depth, 0);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof URL) return hide(value.href);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => cleaned(item, hide, depth + 1));
  return Object.fromEntries(entriesOf(value, hide, depth));
}

function errorFields(error: Error, hide: HideSecrets, depth: number, causes: number): Record<string, unknown> {
  const { cause } = error;
  const code = 'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? error.code : undefined;
  return {
    type: error.name,
    ...(code === undefined ? {} : { code }),
    ...(error instanceof TriageError ? { retryable: error.retryable, details: cleaned(error.details, hide, depth + 1) } : {}),
    message: hide(error.message),
    stack: hide(error.stack ?? ''),
    ...(cause === undefined || causes >= MAX_CAUSES
      ? {}
      : { cause: cause instanceof Error ? errorFields(cause, hide, depth, causes + 1) : cleaned(cause, hide, depth + 1) }),
    ...(error instanceof AggregateError && causes < MAX_CAUSES
      ? { errors: error.errors.slice(0, MAX_CAUSES).map((one: unknown) => (one instanceof Error ? hide(one.message) : String(typeof one))) }
      : {}),
  };
}
