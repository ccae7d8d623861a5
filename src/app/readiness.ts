import { messageOf } from '../domain/errors.ts';
import type { Clock } from '../lib/time.ts';
import type { Logger } from '../ports/telemetry.ts';

/** `degraded`: it answers, but not as it should. */
export type BackendState = 'ok' | 'degraded' | 'down';

export interface BackendHealth {
  readonly state: BackendState;
  /** One sentence, masked. It may name hosts: for people with a token and for the log. */
  readonly says: string;
  /** Since when it is in this state, as far as this process knows. */
  readonly since: string;
}

export interface Readiness {
  /** Whether all that is needed to accept builds works: the database. All else may be away, and triage goes on without. */
  readonly ok: boolean;
  /** Backends that are away or not as they should be, by name. */
  readonly degraded: readonly string[];
  readonly backends: Readonly<Record<string, BackendHealth>>;
}

export interface BackendCheck {
  readonly name: string;
  /** Without it no build can be accepted. */
  readonly needed?: true;
  /** How long an answer stands, in milliseconds: probes cost a backend nothing between. */
  readonly freshMs: number;
  /** How long one question may take, in milliseconds; absent: a second. */
  readonly limitMs?: number;
  /** What it says of itself; `degraded` where it says so itself. Throws what is wrong. */
  ask(signal: AbortSignal): Promise<string | { readonly degraded: string }>;
}

export interface ReadinessOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Hides secrets in what backends say of themselves. */
  readonly mask?: (text: string) => Promise<string>;
}

const LIMIT_MS = 1_000;
const MAX_SENTENCE = 300;

interface Known {
  readonly check: BackendCheck;
  health: BackendHealth | null;
  askedAt: number;
  running: Promise<void> | null;
}

/**
 * Asks each backend at most as often as it says; many probes at once ask once. Only what is needed is waited for, and what was never asked,
 * for as long as its limit: of all else the last answer is told while it is asked anew, so that a backend that hangs makes no probe late.
 * Every change of state is one line in the log, and nothing is logged as long as all stays as it is.
 */
export function createReadiness(checks: readonly BackendCheck[], options: ReadinessOptions): () => Promise<Readiness> {
  const known: Known[] = checks.map((check) => ({ check, health: null, askedAt: Number.NEGATIVE_INFINITY, running: null }));
  return async () => {
    await Promise.all(known.map((one) => fresh(one, options)));
    const all = known.flatMap(({ check, health }) => (health === null ? [] : [{ check, health }]));
    return {
      ok: all.every(({ check, health }) => check.needed !== true || health.state !== 'down'),
      degraded: all.filter(({ health }) => health.state !== 'ok').map(({ check }) => check.name),
      backends: Object.fromEntries(all.map(({ check, health }) => [check.name, health])),
    };
  };
}

async function fresh(one: Known, options: ReadinessOptions): Promise<void> {
  if (performance.now() - one.askedAt < one.check.freshMs) return;
  one.running ??= ask(one, options).finally(() => {
    one.running = null;
  });
  if (one.check.needed === true || one.health === null) await one.running;
}

async function ask(one: Known, options: ReadinessOptions): Promise<void> {
  const { limitMs = LIMIT_MS } = one.check;
  const limit = AbortSignal.timeout(limitMs);
  const late = new Promise<never>((_resolve, reject) =>
    limit.addEventListener('abort', () => reject(new Error(`no answer within ${limitMs} ms`)), { once: true }),
  );
  // The work may be over before.
  late.catch(() => undefined);
  const { state, says } = await Promise.race([one.check.ask(limit), late]).then(
    (said) => (typeof said === 'string' ? { state: 'ok' as const, says: said } : { state: 'degraded' as const, says: said.degraded }),
    (error: unknown) => ({ state: 'down' as const, says: messageOf(error) }),
  );
  await settle(one, state, says, options);
}

async function settle(one: Known, state: BackendState, said: string, { logger, clock, mask }: ReadinessOptions): Promise<void> {
  const before = one.health;
  const short = said.replaceAll(/\s+/g, ' ').slice(0, MAX_SENTENCE);
  const says = mask === undefined ? short : await mask(short).catch(() => 'what it said could not be masked');
  const now = new Date(clock.now()).toISOString();
  one.askedAt = performance.now();
  one.health = { state, says, since: before?.state === state ? before.since : now };
  if (before?.state === state || (before === null && state === 'ok')) return;
  const fields = { backend: one.check.name, state, says };
  if (state === 'ok') logger.info(fields, 'a backend is back');
  else logger.warn(fields, one.check.needed === true ? 'no build can be accepted' : 'a backend is away; triage goes on without it');
}
