import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { TriageError } from '../../domain/errors.ts';
import type { Logger } from '../../ports/telemetry.ts';

/** Who gets spans. */
export interface SpanReceiver {
  /** For the log: "langfuse". */
  readonly name: string;
  /** The whole address: "https://collector:4318/v1/traces". */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 5_000;

/**
 * Sends spans as OTLP over HTTP in JSON. OpenTelemetry's own exporter is not used because it adds the headers of OTEL_EXPORTER_OTLP_HEADERS
 * to every receiver: with two of them, one would get the other's key. What cannot be sent is lost and logged once.
 */
export function createOtlpExporter(receiver: SpanReceiver, logger: Logger): SpanExporter {
  let warned = false;
  const running = new Set<Promise<void>>();
  return {
    export: (spans, done) => {
      const sent = send(receiver, JsonTraceSerializer.serializeRequest(spans)).then(
        () => done({ code: 0 }),
        (error: unknown) => {
          if (!warned) logger.warn({ receiver: receiver.name, error }, 'spans could not be sent');
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
    // A key must not follow a redirect.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new TriageError('upstream-failed', `The span receiver returned ${response.status}`);
}
