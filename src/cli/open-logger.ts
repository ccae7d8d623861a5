import { createLogger } from '../app.ts';
import { maskingOf } from '../config/masking.ts';
import type { Config } from '../config/schema.ts';
import { type Logger, silentLogger } from '../ports/telemetry.ts';

/** Service logs as JSON lines on standard error, in which none of the configuration's own secrets stands. */
export async function openLogger(level: string, config: Config): Promise<Logger> {
  return level === 'silent' ? silentLogger : createLogger(level, maskingOf(config).known);
}
