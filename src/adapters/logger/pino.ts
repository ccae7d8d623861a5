import { AsyncLocalStorage } from 'node:async_hooks';
import pino from 'pino';
import type { Logger } from '../../ports/telemetry.ts';
import { cleanFields } from './clean-fields.ts';
import { createHideSecrets, type HideSecrets } from './hide-secrets.ts';

export interface PinoLoggerOptions {
  /** The process's own secrets: they stand in no line, in no spelling. */
  readonly known?: readonly string[];
  /** Where lines go; absent: standard error, so that standard output stays for results. */
  readonly to?: { write(line: string): void };
}

/** Ids of what is worked on, for every line that is written meanwhile. */
type Bound = Readonly<Record<string, unknown>>;

/**
 * One JSON object a line. Everything in it is masked, known secrets and what looks like one; an error is printed without
 * what hangs on it. Never throws: what cannot be printed is said to be so.
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
  return loggerOver(root, hide, bound);
}

function loggerOver(target: pino.Logger, hide: HideSecrets, bound: AsyncLocalStorage<Bound>): Logger {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (!target.isLevelEnabled(level)) return;
    const own = target.bindings();
    // What the line says itself, and what its logger was made for, goes before what surrounds it.
    const around = Object.entries(bound.getStore() ?? {}).filter(([name]) => !(name in own));
    target[level]({ ...safely(Object.fromEntries(around), hide), ...safely(fields, hide) }, hide(message));
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => loggerOver(target.child(safely(fields, hide)), hide, bound),
    // Cleaned when a line is written: most requests write none.
    within: (fields, work) => bound.run({ ...bound.getStore(), ...fields }, work),
  };
}

/** A getter that throws must not take down whoever logs. */
function safely(fields: object, hide: HideSecrets): Record<string, unknown> {
  try {
    return cleanFields(fields, hide);
  } catch {
    return { unprintable: true };
  }
}
