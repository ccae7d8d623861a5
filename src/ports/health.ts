import { getErrorMessage } from '../domain/errors.ts';
import { limitTime } from '../lib/resilience.ts';

export interface Finding {
  readonly name: string;
  /** `note`: it works, but something is missing or could be better. */
  readonly state: 'ok' | 'note' | 'wrong';
  readonly says: string;
  /** The advice on how to fix it. Every finding with the state `wrong` has it. */
  readonly remedy?: string;
}

/**
 * A question whose answer shows whether a part of an installation works. `faultline doctor` and
 * `faultline connect` ask it once. The service repeats questions with a `freshMs` for `/readyz` and the
 * metrics.
 */
export interface Check {
  readonly name: string;
  /** Advice for a failure whose error does not contain its own. */
  readonly remedy: string;
  /** The time limit in milliseconds. Five seconds if absent. */
  readonly limitMs?: number;
  /**
   * The time for which the service reuses the result, in milliseconds. If absent, the service does not repeat
   * the check.
   */
  readonly freshMs?: number;
  /** The name that `/readyz` and the metrics use. The name of the check if absent. */
  readonly backend?: string;
  ask(signal: AbortSignal): Promise<Finding | readonly Finding[]>;
}

/** The state of a backend. `degraded`: it responds, but not as it should. */
export type BackendState = 'ok' | 'degraded' | 'down';

export interface BackendHealth {
  readonly state: BackendState;
  /** One masked sentence. It may name hosts, so it is only for people with a token and for the log. */
  readonly says: string;
  /** Advice on how to fix it. */
  readonly remedy?: string;
  /** The time since which it is in this state, as far as this process knows. */
  readonly since: string;
}

export interface Readiness {
  /**
   * True if everything that is needed to accept builds works, which is the database. Other backends may be
   * unavailable, and triage continues without them.
   */
  readonly ok: boolean;
  /** The names of backends that are unavailable or not as they should be. */
  readonly degraded: readonly string[];
  readonly backends: Readonly<Record<string, BackendHealth>>;
}

const LIMIT_MS = 5_000;
const MAX_SENTENCE = 400;

/** Runs one check within its limit. An error becomes a finding. Never throws. */
export async function runCheck({
  name,
  remedy,
  limitMs = LIMIT_MS,
  ask,
}: Check): Promise<readonly Finding[]> {
  const late = () => new Error(`no answer within ${limitMs / 1000} s`);
  try {
    return [await limitTime({ limitMs, late }, ask)].flat();
  } catch (error) {
    return [wrong(name, getErrorMessage(error).replaceAll(/\s+/g, ' ').slice(0, MAX_SENTENCE), remedy)];
  }
}

export const ok = (name: string, says: string): Finding => ({ name, state: 'ok', says });
export const note = (name: string, says: string, remedy: string): Finding => ({
  name,
  state: 'note',
  says,
  remedy,
});
export const wrong = (name: string, says: string, remedy: string): Finding => ({
  name,
  state: 'wrong',
  says,
  remedy,
});

/**
 * The maximum difference between two clocks, in milliseconds. A larger difference breaks signed deliveries
 * and leases.
 */
const SKEW_MS = 60_000;

/**
 * Returns a finding if the other clock is too far ahead of or behind ours. `aheadMs` is its lead in
 * milliseconds; null if unknown.
 */
export function findClockSkew(name: string, aheadMs: number | null): Finding[] {
  if (aheadMs === null || Math.abs(aheadMs) <= SKEW_MS) return [];
  const says =
    `it is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ` +
    'this machine';
  return [
    wrong(
      name,
      says,
      'synchronize both machines with NTP; signed deliveries older than five minutes are rejected',
    ),
  ];
}
