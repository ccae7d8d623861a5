import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  context,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { TriageError } from '../../domain/errors.ts';
import {
  type Logger,
  type SpanFacts,
  type SpanOutline,
  type Tracer,
  withFields,
} from '../../ports/telemetry.ts';

export interface OpenTelemetryOptions {
  readonly serviceName: string;
  readonly receiver: SpanReceiver;
  readonly logger: Logger;
}

/** The maximum length of an attribute's text. Names and ids are shorter. */
const MAX_TEXT = 200;

/**
 * Creates spans with OpenTelemetry. Nothing is registered globally, so other tracing in the process is not
 * affected. If it has an open span, our spans become its children.
 */
export function createOpenTelemetryTracer({ serviceName, receiver, logger }: OpenTelemetryOptions): Tracer {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanLimits: { attributeValueLengthLimit: MAX_TEXT, attributeCountLimit: 64 },
    spanProcessors: [new BatchSpanProcessor({ exporter: createOtlpExporter(receiver, logger) })],
  });
  const tracer = provider.getTracer('faultline');
  const open = new AsyncLocalStorage<Context>();
  const begin = ({ name, kind, facts, parent }: SpanOutline, startTime?: number) => {
    const here = open.getStore() ?? context.active();
    const remote = readTraceparent(parent ?? null);
    const around = remote === null ? here : trace.setSpanContext(here, remote);
    const attributes = toAttributes(facts);
    const span = tracer.startSpan(
      name,
      { kind: KINDS[kind], attributes, ...(startTime === undefined ? {} : { startTime }) },
      around,
    );
    return { span, inside: trace.setSpan(around, span) };
  };
  return {
    span: async (outline, work) => {
      const { span, inside } = begin(outline);
      const { traceId, spanId } = span.spanContext();
      const doing = () =>
        work({
          add: (more) => void span.setAttributes(toAttributes(more)),
          fail: (errorType) => markFailed(span, errorType),
        });
      try {
        return await open.run(inside, () => withFields(logger, { traceId, spanId }, doing));
      } catch (error) {
        markFailed(span, getErrorType(error));
        throw error;
      } finally {
        span.end();
      }
    },
    record: (outline, { startedAt, endedAt }) =>
      void begin(outline, startedAt).span.end(Math.max(startedAt, endedAt)),
    traceparent: () => {
      const span = trace.getSpan(open.getStore() ?? context.active());
      return span === undefined ? null : writeTraceparent(span.spanContext());
    },
    flush: async (limitMs) => {
      const flushed = provider
        .forceFlush()
        .catch((error: unknown) => logger.debug({ error }, 'spans were not all sent'));
      await Promise.race([flushed, sleep(limitMs, undefined, { ref: false })]);
    },
  };
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/**
 * Marks a span as failed. Records only the type of the error, because its message may quote a log or a
 * server.
 */
function markFailed(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR });
}

function getErrorType(error: unknown): string {
  if (error instanceof TriageError) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}

function toAttributes(facts: SpanFacts): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(facts)) {
    if (value === null || value === undefined) continue;
    attributes[name] = typeof value === 'object' ? [...value] : value;
  }
  return attributes;
}

export interface SpanReceiver {
  /** The whole URL: "https://collector:4318/v1/traces". */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 5_000;

/**
 * Sends spans as OTLP over HTTP in JSON. OpenTelemetry's own exporter is not used, because it sends the key
 * along when it follows redirects. Spans that cannot be sent are lost, which is logged once.
 */
function createOtlpExporter(receiver: SpanReceiver, logger: Logger): SpanExporter {
  let warned = false;
  const running = new Set<Promise<void>>();
  return {
    export: (spans, done) => {
      const sent = send(receiver, JsonTraceSerializer.serializeRequest(spans)).then(
        () => done({ code: 0 }),
        (error: unknown) => {
          if (!warned) logger.warn({ receiver: receiver.url, error }, 'spans could not be sent');
          warned = true;
          done({ code: 1, error: error instanceof Error ? error : new Error(String(error)) });
        },
      );
      running.add(sent);
      void sent.finally(() => running.delete(sent));
    },
    forceFlush: async () => void (await Promise.all(running)),
    shutdown: async () => void (await Promise.all(running)),
  };
}

async function send({ url, headers }: SpanReceiver, body: Uint8Array | undefined): Promise<void> {
  if (body === undefined) return;
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: Buffer.from(body),
    // The key must not be sent to the target of a redirect.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new TriageError('upstream-failed', `The span receiver returned ${response.status}`);
}

/** The pattern of version 00 of W3C Trace Context, the only version that we send. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** Returns the span context of a traceparent header, or null if it has none. */
function readTraceparent(text: string | null): SpanContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
}

function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0')}`;
}
