import { getErrorMessage } from '../domain/errors.ts';
import { orAborted } from '../lib/time.ts';

export interface Finding {
  readonly name: string;
  /** `note`: it works, but something is left out or could be better. */
  readonly state: 'ok' | 'note' | 'wrong';
  readonly says: string;
  /** Advice on how to fix it; every finding that is wrong has it. */
  readonly mend?: string;
}

/** One question of doctor's. */
export interface Examination {
  readonly name: string;
  /** Advice for a failure whose error does not contain its own. */
  readonly mend: string;
  /** Time limit in milliseconds; absent: five seconds. */
  readonly limitMs?: number;
  ask(signal: AbortSignal): Promise<Finding | readonly Finding[]>;
}

const LIMIT_MS = 5_000;
const MAX_SENTENCE = 400;

/** Asks one question within its limit; what it throws is what is wrong. Never throws. */
export async function examine({ name, mend, limitMs = LIMIT_MS, ask }: Examination): Promise<readonly Finding[]> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    return [await orAborted(ask(limit), limit)].flat();
  } catch (error) {
    const says = error === limit.reason ? `no answer within ${limitMs / 1000} s` : getErrorMessage(error);
    return [wrong(name, says.replaceAll(/\s+/g, ' ').slice(0, MAX_SENTENCE), mend)];
  }
}

export const ok = (name: string, says: string): Finding => ({ name, state: 'ok', says });
export const note = (name: string, says: string, mend: string): Finding => ({ name, state: 'note', says, mend });
export const wrong = (name: string, says: string, mend: string): Finding => ({ name, state: 'wrong', says, mend });

/** Clocks further apart make signed deliveries fail and leases look odd. */
const SKEW_MS = 60_000;

/**
 * Returns a finding if the other clock is too far ahead of or behind ours. `aheadMs` is its lead in
 * milliseconds; null if unknown.
 */
export function clockFindings(name: string, aheadMs: number | null): Finding[] {
  if (aheadMs === null || Math.abs(aheadMs) <= SKEW_MS) return [];
  const says = `it is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine`;
  return [wrong(name, says, 'synchronize both machines with NTP; signed deliveries older than five minutes are rejected')];
}
