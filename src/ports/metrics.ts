import { CATEGORIES } from '../domain/category.ts';

/** The values that a label may have: these, or at most so many different ones. What is beyond that is counted as "other". */
export type LabelValues = readonly string[] | number;

export interface MetricOutline {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** Upper bounds, of histograms. */
  readonly buckets?: readonly number[];
}

const PROVIDERS = ['github', 'jenkins', 'upload'] as const;
const ANALYSTS = ['rules', 'llm', 'recall', 'recorded', 'none'] as const;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const SLOW = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
const ROUTES = 120;
const TOOLS = 48;
const MODELS = 12;

/**
 * Everything that is measured, in base units (seconds, US dollars, plain counts). No label can grow without bound: a sender or a
 * model may write what it likes and makes no series of its own. docs/reference/metrics.md names the same, and a test compares them.
 */
export const METRICS = {
  http_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time to answer a request, by route and class of status.',
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
    help: 'Time that one analysis took, without waiting in the queue.',
    labels: { category: CATEGORIES, analyst: ANALYSTS },
    buckets: SLOW,
  },
  faultline_queue_wait_seconds: {
    kind: 'histogram',
    help: 'Time from the moment that a triage was owed to the moment that a worker took it.',
    labels: {},
    buckets: [...QUICK, 60, 300, 1800],
  },
  faultline_model_latency_seconds: {
    kind: 'histogram',
    help: 'Time of one question to the model, its retries included.',
    labels: { model: MODELS, outcome: ['ok', 'failed'] },
    buckets: SLOW,
  },
  faultline_tool_latency_seconds: {
    kind: 'histogram',
    help: 'Time of one question to a tool, its retries and its alternative included.',
    labels: {
      tool: TOOLS,
      outcome: ['ok', 'empty', 'unavailable', 'invalid-arguments', 'refused', 'failed', 'timed-out', 'cancelled'],
    },
    buckets: QUICK,
  },
  faultline_failures_total: {
    kind: 'counter',
    help: 'Failure groups that got an analysis, by where the build came from and what broke.',
    labels: { source: PROVIDERS, category: CATEGORIES },
  },
  faultline_actions_total: {
    kind: 'counter',
    help: 'What was decided to do with an analysis.',
    labels: { action: ['auto_notify', 'human_review', 'self_correct', 'web_search'] },
  },
  faultline_llm_tokens_total: {
    kind: 'counter',
    help: 'Tokens that models read and wrote.',
    labels: { direction: ['input', 'output'], model: MODELS },
  },
  faultline_llm_cost_usd_total: {
    kind: 'counter',
    help: 'US dollars that models cost, where their price is known.',
    labels: { model: MODELS },
  },
  faultline_retries_total: {
    kind: 'counter',
    help: 'Tries that failed and were made again.',
    labels: { of: ['model', 'tool', 'triage'] },
  },
  faultline_deliveries_total: {
    kind: 'counter',
    help: 'Deliveries that were kept, and those that had been here before (dedupe hits).',
    labels: { source: PROVIDERS, outcome: ['kept', 'repeated'] },
  },
  faultline_queue_depth: {
    kind: 'gauge',
    help: 'Triages that are owed, waiting or running, as the database knows them.',
    labels: { state: ['queued', 'running'] },
  },
  faultline_queue_oldest_seconds: {
    kind: 'gauge',
    help: 'Age of the triage that has waited longest; 0 where none waits.',
    labels: {},
  },
  faultline_deliveries_landed: {
    kind: 'gauge',
    help: 'Deliveries that were accepted and are not recorded as builds yet.',
    labels: {},
  },
  faultline_publications_owed: {
    kind: 'gauge',
    help: 'Answers that are to be published and are not yet.',
    labels: {},
  },
  faultline_review_pending: {
    kind: 'gauge',
    help: 'Analyses that wait for a person.',
    labels: {},
  },
  faultline_breaker_open: {
    kind: 'gauge',
    help: '1 where a provider failed so often that it is left alone for a while, 0.5 where it is tried again, else 0.',
    labels: { provider: TOOLS },
  },
  faultline_backend_up: {
    kind: 'gauge',
    help: '1 where a backend answers, 0.5 where it answers badly, 0 where it does not.',
    labels: { backend: 24 },
  },
  faultline_scrape_failures_total: {
    kind: 'counter',
    help: 'Readings for a scrape that failed or took too long; their gauges are missing then.',
    labels: { reading: 12 },
  },
} as const satisfies Readonly<Record<string, MetricOutline>>;

type Named<Kind extends MetricOutline['kind']> = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[keyof typeof METRICS];

export type CounterName = Named<'counter'>;
export type HistogramName = Named<'histogram'>;
export type GaugeName = Named<'gauge'>;
export type Labels<Name extends keyof typeof METRICS> = Readonly<Record<keyof (typeof METRICS)[Name]['labels'], string>>;

/** A gauge as it stands now. */
export interface Reading {
  readonly name: GaugeName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Numbers about what happens here, for whoever watches from outside. Never fails or slows what it measures. */
export interface Metrics {
  /** Counts `amount` more, 1 unless said otherwise. */
  count<Name extends CounterName>(name: Name, labels: Labels<Name>, amount?: number): void;
  observe<Name extends HistogramName>(name: Name, labels: Labels<Name>, seconds: number): void;
  /** Is read when somebody asks for the numbers, and not again for some seconds. What it throws is counted and told nobody else. */
  read(reading: string, read: () => Promise<readonly Reading[]>): void;
  /** All of it as Prometheus reads it. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Counts nothing. */
export const silentMetrics: Metrics = {
  count: () => undefined,
  observe: () => undefined,
  read: () => undefined,
  text: async () => ({ contentType: 'text/plain; charset=utf-8', body: '' }),
};
