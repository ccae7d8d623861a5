import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Database } from '../ports/database.ts';
import type { Stores } from '../ports/stores.ts';
import type { Logger, Metrics, Reading, Tracer } from '../ports/telemetry.ts';
import type { Toolbox } from '../ports/toolbox.ts';
import { createStores } from '../store/stores.ts';
import { readBacklog } from '../store/triages.ts';
import { type Backends, backendChecks } from './backend-checks.ts';
import { measuredStores } from './measured.ts';
import { noticeRulesOf } from './open-notices.ts';
import { openTracer } from './open-tracer.ts';
import { type BackendState, createReadiness, type Readiness } from './readiness.ts';

const UP: Readonly<Record<BackendState, number>> = { ok: 1, degraded: 0.5, down: 0 };
const OPEN = { closed: 0, 'half-open': 0.5, open: 1 } as const;

export interface Observed {
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  /** Counted, and with the trace of whoever owes work. */
  readonly stores: Stores;
}

/** Who is told of what happens, and the stores, which tell them. */
export async function openObserved(config: Config, database: Database, clock: Clock, logger: Logger): Promise<Observed> {
  const tracer = await openTracer(config, logger);
  const metrics = (await import('../adapters/metrics/prometheus.ts')).createPrometheusMetrics();
  const stores = createStores(database, clock, () => tracer.traceparent(), noticeRulesOf(config));
  return { tracer, metrics, stores: measuredStores(stores, metrics) };
}

interface Watched extends Backends {
  readonly toolbox: Toolbox;
  readonly metrics: Metrics;
  readonly masker: Masker;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What backends say of themselves. The metrics tell it too, with what the database owes and which providers are left alone. */
export function openReadiness(watched: Watched): () => Promise<Readiness> {
  const { metrics, database, toolbox, masker } = watched;
  const mask = async (text: string) => (await masker.mask(text)).text;
  const readiness = createReadiness(backendChecks(watched), { ...watched, mask });
  metrics.read('backlog', () => readBacklog(database));
  metrics.read('backends', async () => backendsOf(await readiness()));
  metrics.read('breakers', async () => breakersOf(toolbox));
  return readiness;
}

function backendsOf({ backends }: Readiness): Reading[] {
  return Object.entries(backends).map(([backend, { state }]) => ({ name: 'faultline_backend_up', labels: { backend }, value: UP[state] }));
}

function breakersOf(toolbox: Toolbox): Reading[] {
  return Object.entries(toolbox.breakers?.() ?? {}).map(([provider, state]) => ({
    name: 'faultline_breaker_open',
    labels: { provider },
    value: OPEN[state],
  }));
}
