import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Database } from '../ports/database.ts';
import type { BackendState, Readiness } from '../ports/health.ts';
import { type GaugeValue, type Logger, type Metrics, silentTracer, type Tracer } from '../ports/telemetry.ts';
import type { Toolbox } from '../ports/toolbox.ts';
import { createStores } from '../stores/stores.ts';
import { readBacklog } from '../stores/triages.ts';
import { type Backends, createReadiness, listBackendChecks } from './health.ts';
import { measureStores } from './instrumentation.ts';
import { listConfiguredNoticeChannels, listEventSettings } from './open-channels.ts';

const UP: Readonly<Record<BackendState, number>> = { ok: 1, degraded: 0.5, down: 0 };
const OPEN = { closed: 0, 'half-open': 0.5, open: 1 } as const;

/**
 * Opens the tracer, the metrics and the stores. The stores report to both: they count events, and keep the
 * trace of the request that caused the work.
 */
export async function openObserved(config: Config, database: Database, clock: Clock, logger: Logger) {
  const tracer = await openTracer(config, logger);
  const metrics = (await import('../adapters/metrics/prometheus.ts')).createPrometheusMetrics();
  const stores = createStores(
    database,
    clock,
    () => tracer.traceparent(),
    listConfiguredNoticeChannels(config),
    listEventSettings(config),
  );
  return { tracer, metrics, stores: measureStores(stores, metrics) };
}

interface Watched extends Backends {
  readonly toolbox: Toolbox;
  readonly metrics: Metrics;
  readonly masker: Masker;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Opens the readiness checks of the backends. The metrics also expose them, with the backlog in the database
 * and the open circuit breakers of providers.
 */
export function openReadiness(watched: Watched): () => Promise<Readiness> {
  const { metrics, database, toolbox, masker } = watched;
  const mask = async (text: string) => (await masker.mask(text)).text;
  const readiness = createReadiness(listBackendChecks(watched), { ...watched, mask });
  metrics.read('backlog', () => readBacklog(database));
  metrics.read('backends', async () => toBackendReadings(await readiness()));
  metrics.read('breakers', async () => toBreakerReadings(toolbox));
  return readiness;
}

function toBackendReadings({ backends }: Readiness): GaugeValue[] {
  return Object.entries(backends).map(([backend, { state }]) => ({
    name: 'faultline_backend_up',
    labels: { backend },
    value: UP[state],
  }));
}

function toBreakerReadings(toolbox: Toolbox): GaugeValue[] {
  return Object.entries(toolbox.breakers?.() ?? {}).map(([provider, state]) => ({
    name: 'faultline_breaker_open',
    labels: { provider },
    value: OPEN[state],
  }));
}

interface Receiver {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Opens a tracer for the configured receiver. Without one it returns a silent tracer and loads nothing. */
export async function openTracer(config: Partial<Pick<Config, 'tracing'>>, logger: Logger): Promise<Tracer> {
  const receiver = config.tracing === undefined ? undefined : findReceiver(config.tracing);
  if (config.tracing === undefined || receiver === undefined) return silentTracer;
  const { createOpenTelemetryTracer } = await import('../adapters/tracer/opentelemetry.ts');
  return createOpenTelemetryTracer({ serviceName: config.tracing.serviceName, receiver, logger });
}

/** Returns the receiver of traces that OpenTelemetry's own settings name; undefined if there is none. */
export function findReceiver({ endpoint, headers }: Config['tracing']): Receiver | undefined {
  if (endpoint === null) return undefined;
  return { url: `${endpoint.replace(/\/$/, '')}/v1/traces`, headers: parseHeaders(headers ?? '') };
}

/**
 * Parses `name=value,…` with URL-encoded values (OpenTelemetry's form). Entries of another form are ignored.
 */
function parseHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim().toLowerCase();
    return at > 0 && /^[\w-]+$/.test(name) ? [[name, decode(pair.slice(at + 1).trim())] as const] : [];
  });
  return Object.fromEntries(pairs);
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
