import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import {
  type GaugeValue,
  type LabelValues,
  METRICS,
  type MetricOutline,
  type Metrics,
} from '../../ports/telemetry.ts';

export interface PrometheusOptions {
  /**
   * The time for which a reading is reused, in milliseconds, so that two scrapers cause no more database
   * queries than one.
   */
  readonly freshMs?: number;
  /** The time limit of one reading, in milliseconds. */
  readonly limitMs?: number;
  /** True to include the memory, CPU and event loop of the process. */
  readonly ofProcess?: boolean;
}

const FRESH_MS = 5_000;
const LIMIT_MS = 2_000;

interface Source {
  readonly read: () => Promise<readonly GaugeValue[]>;
  readAt: number;
  running: Promise<readonly GaugeValue[]> | null;
  last: readonly GaugeValue[];
}

type Known = { readonly bound: (labels: Readonly<Record<string, string>>) => Record<string, string> } & (
  | { readonly kind: 'counter'; readonly counter: Counter }
  | { readonly kind: 'histogram'; readonly histogram: Histogram }
  | { readonly kind: 'gauge'; readonly gauge: Gauge; readonly labelled: boolean }
);

/**
 * Creates metrics in a separate registry, so that the numbers of several apps in one process are not added
 * up.
 */
export function createPrometheusMetrics(options: PrometheusOptions = {}): Metrics {
  const { freshMs = FRESH_MS, limitMs = LIMIT_MS, ofProcess = true } = options;
  const registry = new Registry();
  if (ofProcess) collectDefaultMetrics({ register: registry });
  const known = new Map(
    Object.entries(METRICS).map(([name, outline]) => [name, createMetric(name, outline, registry)]),
  );
  const sources = new Map<string, Source>();
  const metrics: Metrics = {
    count: (name, labels, amount = 1) => {
      const metric = known.get(name);
      if (metric?.kind === 'counter' && amount > 0 && Number.isFinite(amount))
        metric.counter.inc(metric.bound(labels), amount);
    },
    observe: (name, labels, seconds) => {
      const metric = known.get(name);
      // A duration is negative if the clock was set back. It is not counted.
      if (metric?.kind === 'histogram' && Number.isFinite(seconds))
        metric.histogram.observe(metric.bound(labels), Math.max(0, seconds));
    },
    read: (reading, read) =>
      void sources.set(reading, { read, readAt: Number.NEGATIVE_INFINITY, running: null, last: [] }),
    text: async () => {
      const all = [...sources].map(([reading, source]) =>
        readFresh(source, freshMs, limitMs).catch((): readonly GaugeValue[] => {
          metrics.count('faultline_scrape_failures_total', { reading });
          return [];
        }),
      );
      setGauges(known, (await Promise.all(all)).flat());
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
  return metrics;
}

function createMetric(
  name: string,
  { kind, help, labels, buckets }: MetricOutline,
  registry: Registry,
): Known {
  const common = { name, help, labelNames: Object.keys(labels), registers: [registry] };
  const bound = boundLabels(labels);
  switch (kind) {
    case 'counter':
      return { kind, bound, counter: new Counter(common) };
    case 'gauge':
      return { kind, bound, gauge: new Gauge(common), labelled: common.labelNames.length > 0 };
    case 'histogram':
      return {
        kind,
        bound,
        histogram: new Histogram(buckets === undefined ? common : { ...common, buckets: [...buckets] }),
      };
  }
}

/** Sets the gauges to the current readings. A gauge that is no longer read is removed. */
function setGauges(known: ReadonlyMap<string, Known>, readings: readonly GaugeValue[]): void {
  for (const metric of known.values()) {
    if (metric.kind !== 'gauge') continue;
    metric.gauge.reset();
    // A reset gauge without labels would report 0, although its value could not be read.
    if (!metric.labelled) metric.gauge.remove();
  }
  for (const { name, labels, value } of readings) {
    const metric = known.get(name);
    if (metric?.kind === 'gauge') metric.gauge.set(metric.bound(labels), value);
  }
}

/**
 * Returns a recent reading, or reads again. Concurrent scrapes share one reading. If a reading hangs, the
 * scrape fails at the time limit and no second reading starts.
 */
async function readFresh(source: Source, freshMs: number, limitMs: number): Promise<readonly GaugeValue[]> {
  if (performance.now() - source.readAt < freshMs) return source.last;
  source.running ??= source
    .read()
    .then((readings) => {
      source.last = readings;
      source.readAt = performance.now();
      return readings;
    })
    .finally(() => {
      source.running = null;
    });
  // If the time limit comes first, a later failure of the reading has no other handler.
  source.running.catch(() => undefined);
  const ended = new AbortController();
  const limit = sleep(limitMs, null, { ref: false, signal: ended.signal }).catch(() => null);
  const readings = await Promise.race([source.running, limit]).finally(() => ended.abort());
  if (readings === null) throw new Error('the reading took too long');
  return readings;
}

/** The maximum length of a label's value. Names of tools, routes and models are shorter. */
const MAX_TEXT = 80;
const OTHER = 'other';

/** Returns a function that limits the values of one label to the allowed ones and "other". */
function boundValues(allowed: LabelValues): (value: string) => string {
  if (typeof allowed !== 'number') {
    const known = new Set(allowed);
    return (value) => (known.has(value) ? value : OTHER);
  }
  const seen = new Set<string>();
  return (value) => {
    const short = value.slice(0, MAX_TEXT);
    if (seen.has(short)) return short;
    if (seen.size >= allowed) return OTHER;
    seen.add(short);
    return short;
  };
}

/**
 * Returns a function that limits the values of each label of a metric. A value that is not allowed, or a
 * missing one, becomes "other".
 */
export function boundLabels(labels: Readonly<Record<string, LabelValues>>) {
  const bounds = Object.entries(labels).map(([name, allowed]) => [name, boundValues(allowed)] as const);
  return (given: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(bounds.map(([name, bound]) => [name, bound(given[name] ?? OTHER)]));
}
