import { getErrorMessage } from '../domain/errors.ts';
import { limitTime } from '../lib/resilience.ts';

export interface Finding {
  readonly name: string;
  /** `note`: it works, but something is left out or could be better. */
  readonly state: 'ok' | 'note' | 'wrong';
  readonly says: string;
  /** Advice on how to fix it; every finding that is wrong has it. */
  readonly mend?: string;
}

/**
 * One question whose answer shows whether a part of an installation works. `faultline doctor` and
 * `faultline connect` ask it once; the service repeats those with a `freshMs` for `/readyz` and the metrics.
 */
export interface Check {
  readonly name: string;
  /** Advice for a failure whose error does not contain its own. */
  readonly mend: string;
  /** Time limit in milliseconds; five seconds if absent. */
  readonly limitMs?: number;
  /** Milliseconds for which the service reuses the result; absent: it does not repeat the check. */
  readonly freshMs?: number;
  /** The name that `/readyz` and the metrics use; the name of the check if absent. */
  readonly backend?: string;
  ask(signal: AbortSignal): Promise<Finding | readonly Finding[]>;
}

/** `degraded`: it answers, but not as it should. */
export type BackendState = 'ok' | 'degraded' | 'down';

export interface BackendHealth {
  readonly state: BackendState;
  /** One sentence, masked. It may name hosts: for people with a token and for the log. */
  readonly says: string;
  /** Advice on how to fix it. */
  readonly mend?: string;
  /** Since when it is in this state, as far as this process knows. */
  readonly since: string;
}

export interface Readiness {
  /**
   * True if everything that is needed to accept builds works, which is the database. Other backends may be
   * unavailable, and triage continues without them.
   */
  readonly ok: boolean;
  /** Backends that are away or not as they should be, by name. */
  readonly degraded: readonly string[];
  readonly backends: Readonly<Record<string, BackendHealth>>;
}

const LIMIT_MS = 5_000;
const MAX_SENTENCE = 400;

/** Runs one check within its limit. An error becomes a finding. Never throws. */
export async function runCheck({ name, mend, limitMs = LIMIT_MS, ask }: Check): Promise<readonly Finding[]> {
  const late = () => new Error(`no answer within ${limitMs / 1000} s`);
  try {
    return [await limitTime({ limitMs, late }, ask)].flat();
  } catch (error) {
    return [wrong(name, getErrorMessage(error).replaceAll(/\s+/g, ' ').slice(0, MAX_SENTENCE), mend)];
  }
}

export const ok = (name: string, says: string): Finding => ({ name, state: 'ok', says });
export const note = (name: string, says: string, mend: string): Finding => ({
  name,
  state: 'note',
  says,
  mend,
});
export const wrong = (name: string, says: string, mend: string): Finding => ({
  name,
  state: 'wrong',
  says,
  mend,
});

/**
 * The maximum difference of two clocks in milliseconds. A larger one breaks signed deliveries and confuses
 * leases.
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
