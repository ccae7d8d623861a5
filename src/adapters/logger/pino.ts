import { AsyncLocalStorage } from 'node:async_hooks';
import pino from 'pino';
import { TriageError } from '../../domain/errors.ts';
import { cutAfter } from '../../lib/text.ts';
import { createKnownFinder } from '../../log/mask/known.ts';
import { findShapes, SHAPES } from '../../log/mask/shapes.ts';
import { hideSpans, mergeSpans } from '../../log/mask/span.ts';
import type { Logger } from '../../ports/telemetry.ts';

export interface PinoLoggerOptions {
  /** The process's own secrets. They must appear in no line, in any spelling. */
  readonly known?: readonly string[];
  /**
   * The destination of log lines. Standard error by default, so that standard output stays free for results.
   */
  readonly to?: { write(line: string): void };
}

/** The ids of the current work, added to every line that is logged during it. */
type Bound = Readonly<Record<string, unknown>>;

/**
 * Creates a logger that writes one JSON object per line. All values are masked: known secrets and anything
 * that looks like a secret. An error is printed without the objects attached to it. Never throws: a line that
 * cannot be serialized is marked as unprintable.
 */
export function createPinoLogger(level: string, { known = [], to }: PinoLoggerOptions = {}): Logger {
  const bound = new AsyncLocalStorage<Bound>();
  const hide = createHideSecrets(known);
  const root = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    to ?? pino.destination({ fd: 2, sync: true }),
  );
  return wrapLogger(root, hide, bound);
}

function wrapLogger(target: pino.Logger, hide: HideSecrets, bound: AsyncLocalStorage<Bound>): Logger {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (!target.isLevelEnabled(level)) return;
    const bindings = target.bindings();
    // The fields of the line and of its logger override those of the surrounding work.
    const around = Object.entries(bound.getStore() ?? {}).filter(([name]) => !(name in bindings));
    target[level](
      { ...readSafely(Object.fromEntries(around), hide), ...readSafely(fields, hide) },
      hide(message),
    );
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => wrapLogger(target.child(readSafely(fields, hide)), hide, bound),
    // Fields are cleaned when a line is written, because most requests write none.
    within: (fields, work) => bound.run({ ...bound.getStore(), ...fields }, work),
  };
}

/**
 * Returns a placeholder instead of throwing, so that a getter that throws cannot crash the code that logs.
 */
function readSafely(fields: object, hide: HideSecrets): Record<string, unknown> {
  try {
    return cleanFields(fields, hide);
  } catch {
    return { unprintable: true };
  }
}

/** Names of fields whose text is never printed, whatever it is. */
const SECRET_NAME = new RegExp(
  '(?:authorization|cookie|passw(?:or)?d|passphrase|secret|(?:api|private|secret|' +
    'access|signing)[_-]?key|credentials?|(?:^|[a-z_-])token)$',
  'i',
);
const HIDDEN = '***';
const MAX_DEPTH = 6;
const MAX_ITEMS = 100;
/** The maximum depth of causes. An error may cause itself, or have endless causes. */
const MAX_CAUSES = 5;

/**
 * Returns the fields of a line as they may be printed: texts are masked, and fields with the name of a secret
 * are hidden. Errors keep their type, code, message, stack and causes, but not attached objects such as
 * requests with headers and replies. Depth and size are bounded.
 */
export function cleanFields(fields: object, hide: HideSecrets): Record<string, unknown> {
  if (fields instanceof Error) return { error: getErrorFields(fields, hide, 0, 0) };
  return Object.fromEntries(cleanEntries(fields, hide, 0));
}

function cleanEntries(fields: object, hide: HideSecrets, depth: number): [string, unknown][] {
  return Object.entries(fields)
    .slice(0, MAX_ITEMS)
    .map(([name, value]) => {
      const isSecret =
        SECRET_NAME.test(name) && typeof value !== 'number' && typeof value !== 'boolean' && value != null;
      return [name, isSecret ? HIDDEN : clean(value, hide, depth + 1)];
    });
}

function clean(value: unknown, hide: HideSecrets, depth: number): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null)
    return typeof value === 'function' || typeof value === 'symbol' ? undefined : value;
  if (value instanceof Error) return getErrorFields(value, hide, depth, 0);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof URL) return hide(value.href);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => clean(item, hide, depth + 1));
  return Object.fromEntries(cleanEntries(value, hide, depth));
}

function getErrorFields(
  error: Error,
  hide: HideSecrets,
  depth: number,
  causes: number,
): Record<string, unknown> {
  const { cause } = error;
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number')
      ? error.code
      : undefined;
  return {
    type: error.name,
    ...(code === undefined ? {} : { code }),
    ...(error instanceof TriageError
      ? { retryable: error.retryable, details: clean(error.details, hide, depth + 1) }
      : {}),
    message: hide(error.message),
    stack: hide(error.stack ?? ''),
    ...(cause === undefined || causes >= MAX_CAUSES
      ? {}
      : {
          cause:
            cause instanceof Error
              ? getErrorFields(cause, hide, depth, causes + 1)
              : clean(cause, hide, depth + 1),
        }),
    ...(error instanceof AggregateError && causes < MAX_CAUSES
      ? {
          errors: error.errors
            .slice(0, MAX_CAUSES)
            .map((other: unknown) => (other instanceof Error ? hide(other.message) : String(typeof other))),
        }
      : {}),
  };
}

/** The maximum length of a text; the rest is cut off. No text that is logged on purpose is longer. */
const MAX_TEXT = 8_000;
/** The minimum length of a text that is searched for secrets. A shorter one contains none worth hiding. */
const MIN_TEXT = 8;
const ALL_SHAPES = (1 << SHAPES.length) - 1;

/**
 * A function that hides known secrets, in any spelling, and texts that look like secrets. The result is valid
 * Unicode.
 */
export type HideSecrets = (text: string) => string;

/** Creates a function that masks secrets. `known` are the secrets of this process. */
export function createHideSecrets(known: readonly string[]): HideSecrets {
  const findKnown = createKnownFinder(known.filter((secret) => secret.length >= MIN_TEXT));
  return (given) => {
    const text = cutAfter(given, MAX_TEXT).toWellFormed();
    if (text.length < MIN_TEXT) return text;
    const spans = findKnown?.(text) ?? [];
    let at = 0;
    for (const line of text.split('\n')) {
      for (const { from, to } of findShapes(line, ALL_SHAPES)) spans.push({ from: from + at, to: to + at });
      at += line.length + 1;
    }
    return hideSpans(text, mergeSpans(spans)).text;
  };
}
