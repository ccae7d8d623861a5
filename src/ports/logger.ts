/** Structured logging, fields first: `log.error({ buildId, error }, 'triage failed')`. Secrets never go in. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
  /** All lines that the work writes, through whichever logger, bear these fields too: ids of what is worked on. Absent: they do not. */
  within?<Value>(fields: object, work: () => Value): Value;
}

/** {@link Logger.within}, for any logger. */
export function withFields<Value>(logger: Logger, fields: object, work: () => Value): Value {
  return logger.within === undefined ? work() : logger.within(fields, work);
}

export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
