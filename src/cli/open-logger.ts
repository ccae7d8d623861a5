import { createLogger } from '../app.ts';
import type { Logger } from '../ports/logger.ts';
import { silentLogger } from '../ports/logger.ts';

/** Service logs as JSON lines on standard error. */
export async function openLogger(level: string): Promise<Logger> {
  return level === 'silent' ? silentLogger : createLogger(level);
}
