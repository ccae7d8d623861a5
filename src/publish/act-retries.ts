import { TriageError } from '../domain/errors.ts';

/**
 * How often an act is tried.
 *
 * - The n-th retry after something that may pass waits about 2ⁿ seconds, at most a quarter of an hour, or longer where the other side
 *   said so (Retry-After, at most a day). After 100 of them, which is about a day, nobody waits for the news any more.
 * - A try that was cut off because the process stops is not counted.
 * - A try that never gave the act back, as when the process died, counts as an attempt. After five of them the act is given up: it may
 *   be what takes the process down.
 */
export const MAX_ACT_RETRIES = 100;
export const MAX_ACT_ATTEMPTS = 5;

const LONGEST_MS = 15 * 60_000;
const LONGEST_ASKED_MS = 24 * 3_600_000;

/**
 * How long to leave an act alone that was retried `retries` times before, in milliseconds. A random part of up to a half keeps many
 * acts that failed together from coming back together.
 */
export function actDelay(retries: number, error: unknown, random: number = Math.random()): number {
  const backoff = Math.min(2 ** (retries + 1) * 1000, LONGEST_MS);
  const asked = error instanceof TriageError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(backoff * (1 - random / 2), Math.min(asked, LONGEST_ASKED_MS));
}
