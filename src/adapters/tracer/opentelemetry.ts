import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attributes, type Context, context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { TriageError } from '../../domain/errors.ts';
import { type Logger, type SpanFacts, type SpanOutline, type Tracer, withFields } from '../../ports/telemetry.ts';
import { createOtlpExporter, type SpanReceiver } from './otlp-exporter.ts';
import { readTraceparent, writeTraceparent } from './traceparent.ts';

export interface OpenTelemetryOptions {
  readonly serviceName: string;
  /** At least one. */
  readonly receivers: readonly SpanReceiver[];
  readonly logger: Logger;
}

/** Longest text that a fact may be: names and ids are shorter. */
const MAX_TEXT = 200;

/**
 * Spans by OpenTelemetry. Nothing is registered globally, so what else in the process is traced stays as it is; where it has an open
 * span, ours stand under it.
 */
export function createOpenTelemetryTracer({ serviceName, receivers, logger }: OpenTelemetryOptions): Tracer {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanLimits: { attributeValueLengthLimit: MAX_TEXT, attributeCountLimit: 64 },
    spanProcessors: receivers.map((receiver) => new BatchSpanProcessor({ exporter: createOtlpExporter(receiver, logger) })),
  });
  const tracer = provider.getTracer('faultline');
  const open = new AsyncLocalStorage<Context>();
  const begin = ({ name, kind, facts, parent }: SpanOutline, startTime?: number) => {
    const here = open.getStore() ?? context.active();
    const remote = readTraceparent(parent ?? null);
    const around = remote === null ? here : trace.setSpanContext(here, remote);
    const attributes = attributesOf(facts);
    const span = tracer.startSpan(name, { kind: KINDS[kind], attributes, ...(startTime === undefined ? {} : { startTime }) }, around);
    return { span, inside: trace.setSpan(around, span) };
  };
  return {
    span: async (outline, work) => {
      const { span, inside } = begin(outline);
      const { traceId, spanId } = span.spanContext();
      const doing = () =>
        work({ add: (more) => void span.setAttributes(attributesOf(more)), fail: (errorType) => failed(span, errorType) });
      try {
        return await open.run(inside, () => withFields(logger, { traceId, spanId }, doing));
      } catch (error) {
        failed(span, errorTypeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
    record: (outline, { startedAt, endedAt }) => void begin(outline, startedAt).span.end(Math.max(startedAt, endedAt)),
    traceparent: () => {
      const span = trace.getSpan(open.getStore() ?? context.active());
      return span === undefined ? null : writeTraceparent(span.spanContext());
    },
    flush: async (limitMs) => {
      const flushed = provider.forceFlush().catch((error: unknown) => logger.debug({ error }, 'spans were not all sent'));
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

/** An error's message may hold what a log or a server said, so only its kind is told. */
function failed(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR });
}

function errorTypeOf(error: unknown): string {
  if (error instanceof TriageError) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}

function attributesOf(facts: SpanFacts): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(facts)) {
    if (value === null || value === undefined) continue;
    attributes[name] = typeof value === 'object' ? [...value] : value;
  }
  return attributes;
}
