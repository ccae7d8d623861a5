import { CORRECTION_RESULTS } from '../domain/analysis.ts';
import { Provider } from '../domain/build.ts';
import { CATEGORIES } from '../domain/category.ts';

/**
 * A structured logger. Fields come first: `log.error({ buildId, error }, 'triage failed')`. Secrets must
 * never be logged.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
  /**
   * Adds these fields, the ids of the subject of the work, to every log line that `work` writes through any
   * logger. Absent if the logger does not support it.
   */
  within?<Value>(fields: object, work: () => Value): Value;
}

/** Calls {@link Logger.within} if the logger supports it. Otherwise only runs the work. */
export function withFields<Value>(logger: Logger, fields: object, work: () => Value): Value {
  return logger.within === undefined ? work() : logger.within(fields, work);
}

export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

/**
 * The values that a label may have: the listed ones, or at most this number of different ones. Further values
 * are counted as "other".
 */
export type LabelValues = readonly string[] | number;

export interface MetricOutline {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** The upper bounds of the buckets of a histogram. */
  readonly buckets?: readonly number[];
}

const ANALYSTS = ['rules', 'llm', 'recall', 'recorded', 'none'] as const;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const SLOW = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
const ROUTES = 120;
const TOOLS = 48;
const MODELS = 12;

/**
 * All metrics, in base units (seconds, US dollars, plain counts). Every label is bounded, so that no text of
 * a sender or a model creates a series of its own. docs/reference/metrics.md names the same metrics, and a
 * test compares them.
 */
export const METRICS = {
  http_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time to respond to a request, by route and status class.',
    labels: { method: METHODS, route: ROUTES, status: STATUS_CLASSES },
    buckets: QUICK,
  },
  faultline_webhook_to_answer_seconds: {
    kind: 'histogram',
    help: 'Time from the arrival of a build to a saved analysis of one of its failures.',
    labels: { category: CATEGORIES, analyst: ANALYSTS },
    buckets: SLOW,
  },
  faultline_analysis_duration_seconds: {
    kind: 'histogram',
    help: 'Duration of one analysis, excluding time in the queue.',
    labels: { category: CATEGORIES, analyst: ANALYSTS },
    buckets: SLOW,
  },
  faultline_queue_wait_seconds: {
    kind: 'histogram',
    help: 'Time from when a triage became pending until a worker took it.',
    labels: {},
    buckets: [...QUICK, 60, 300, 1800],
  },
  faultline_model_latency_seconds: {
    kind: 'histogram',
    help: 'Duration of one model call, including retries.',
    labels: { model: MODELS, outcome: ['ok', 'failed'] },
    buckets: SLOW,
  },
  faultline_tool_latency_seconds: {
    kind: 'histogram',
    help: 'Duration of one tool call, including retries and the alternative tool.',
    labels: {
      tool: TOOLS,
      outcome: [
        'ok',
        'empty',
        'unavailable',
        'invalid-arguments',
        'refused',
        'failed',
        'timed-out',
        'cancelled',
      ],
    },
    buckets: QUICK,
  },
  faultline_failures_total: {
    kind: 'counter',
    help: 'Failure groups that were analyzed, by source of the build and category.',
    labels: { source: Provider.options, category: CATEGORIES },
  },
  faultline_actions_total: {
    kind: 'counter',
    help: 'Actions chosen for analyses.',
    labels: { action: ['auto_notify', 'human_review', 'self_correct', 'web_search'] },
  },
  faultline_corrections_total: {
    kind: 'counter',
    help: 'Answers that were sent back, and whether the next one was surer.',
    labels: { action: ['self_correct', 'web_search'], result: CORRECTION_RESULTS },
  },
  faultline_llm_tokens_total: {
    kind: 'counter',
    help: 'Model tokens read and written.',
    labels: { direction: ['input', 'output'], model: MODELS },
  },
  faultline_llm_cost_usd_total: {
    kind: 'counter',
    help: 'Model cost in US dollars, where the price is known.',
    labels: { model: MODELS },
  },
  faultline_retries_total: {
    kind: 'counter',
    help: 'Failed attempts that were retried.',
    labels: { of: ['model', 'tool', 'triage'] },
  },
  faultline_deliveries_total: {
    kind: 'counter',
    help: 'Deliveries stored, and duplicates (dedupe hits).',
    labels: { source: Provider.options, outcome: ['kept', 'repeated'] },
  },
  faultline_queue_depth: {
    kind: 'gauge',
    help: 'Pending and running triages in the database.',
    labels: { state: ['queued', 'running'] },
  },
  faultline_queue_oldest_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest waiting triage; 0 if none is waiting.',
    labels: {},
  },
  faultline_deliveries_landed: {
    kind: 'gauge',
    help: 'Deliveries accepted but not yet recorded as builds.',
    labels: {},
  },
  faultline_publications_pending: {
    kind: 'gauge',
    help: 'Answers, events and messages of notification rules waiting to be sent.',
    labels: {},
  },
  faultline_review_pending: { kind: 'gauge', help: 'Analyses waiting for review.', labels: {} },
  faultline_breaker_open: {
    kind: 'gauge',
    help: '1 if a provider failed so often that it is paused, 0.5 while it is tried again, otherwise 0.',
    labels: { provider: TOOLS },
  },
  faultline_backend_up: {
    kind: 'gauge',
    help: '1 if a backend responds, 0.5 if it is degraded, 0 if it does not respond.',
    labels: { backend: 24 },
  },
  faultline_scrape_failures_total: {
    kind: 'counter',
    help: 'Readings for a scrape that failed or took too long; their gauges are then missing.',
    labels: { reading: 12 },
  },
} as const satisfies Readonly<Record<string, MetricOutline>>;

type Named<Kind extends MetricOutline['kind']> = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[keyof typeof METRICS];

type CounterName = Named<'counter'>;
type HistogramName = Named<'histogram'>;
type GaugeName = Named<'gauge'>;
type Labels<Name extends keyof typeof METRICS> = Readonly<
  Record<keyof (typeof METRICS)[Name]['labels'], string>
>;

/** The current value of a gauge. */
export interface GaugeValue {
  readonly name: GaugeName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Metrics of the service for external monitoring. A failure or delay here never affects the measured work.
 */
export interface Metrics {
  /** Increases a counter by `amount`, or by 1 if it is absent. */
  count<Name extends CounterName>(name: Name, labels: Labels<Name>, amount?: number): void;
  observe<Name extends HistogramName>(name: Name, labels: Labels<Name>, seconds: number): void;
  /**
   * Registers a reading that is taken when the metrics are requested, and reused for some seconds. An error
   * of the reading is counted and not thrown.
   */
  read(reading: string, read: () => Promise<readonly GaugeValue[]>): void;
  /** Returns all metrics in the Prometheus text format. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>;
}

export const silentMetrics: Metrics = {
  count: () => undefined,
  observe: () => undefined,
  read: () => undefined,
  text: async () => ({ contentType: 'text/plain; charset=utf-8', body: '' }),
};

/**
 * The facts of a span. They never contain the text of a log, a prompt or an answer. Undefined and null facts
 * are left out.
 */
export type SpanFacts = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>;

export interface SpanOutline {
  /** The name, such as "chat gpt-4o-mini". There must be only few different names. */
  readonly name: string;
  /**
   * The kind of span. `client`: calls another system; `server`: answers a request; `producer`: queues work
   * for later; `consumer`: processes queued work.
   */
  readonly kind: 'internal' | 'client' | 'server' | 'producer' | 'consumer';
  readonly facts: SpanFacts;
  /**
   * The W3C traceparent of the parent span, of another process or an earlier time. If it is absent, null or
   * unreadable, the span that is open here is the parent.
   */
  readonly parent?: string | null;
}

/** The start and end of an operation, in milliseconds since 1970. */
interface Period {
  readonly startedAt: number;
  readonly endedAt: number;
}

interface OpenSpan {
  add(facts: SpanFacts): void;
  /** Marks the span as failed although the work completed, because it did not achieve its purpose. */
  fail(errorType: string): void;
}

/**
 * A client that reports the work of a run and the duration of its parts to a tracing backend. A failure here
 * never affects the traced work.
 */
export interface Tracer {
  /**
   * Does the work inside a span. Spans that the work opens are its children. An error ends the span and is
   * thrown again.
   */
  span<Value>(outline: SpanOutline, work: (span: OpenSpan) => Promise<Value>): Promise<Value>;
  /** Records a span for work that has already ended. */
  record(outline: SpanOutline, period: Period): void;
  /**
   * Returns the W3C traceparent of the open span, with which another process can continue the trace. Returns
   * null if no span is open or tracing is off.
   */
  traceparent(): string | null;
  /** Sends the remaining spans, for at most `limitMs` milliseconds. */
  flush(limitMs: number): Promise<void>;
}

const nobody: OpenSpan = { add: () => undefined, fail: () => undefined };

export const silentTracer: Tracer = {
  span: (_outline, work) => work(nobody),
  record: () => undefined,
  traceparent: () => null,
  flush: async () => undefined,
};
