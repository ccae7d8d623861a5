import type { Config } from '../config/schema.ts';
import { type Logger, silentTracer, type Tracer } from '../ports/telemetry.ts';

interface Receiver {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Tells whoever is configured; nobody, and without loading anything, where nobody is. */
export async function openTracer(config: Partial<Pick<Config, 'tracing'>>, logger: Logger): Promise<Tracer> {
  const receivers = config.tracing === undefined ? [] : receiversOf(config.tracing);
  if (config.tracing === undefined || receivers.length === 0) return silentTracer;
  const { createOpenTelemetryTracer } = await import('../adapters/tracer/opentelemetry.ts');
  return createOpenTelemetryTracer({ serviceName: config.tracing.otlp.serviceName, receivers, logger });
}

/** A collector by OpenTelemetry's own settings, Langfuse by its keys, or both. */
export function receiversOf({ otlp, langfuse }: Config['tracing']): Receiver[] {
  const collector = otlp.tracesEndpoint ?? (otlp.endpoint === null ? null : `${otlp.endpoint.replace(/\/$/, '')}/v1/traces`);
  const { publicKey, secretKey } = langfuse;
  return [
    ...(collector === null ? [] : [{ name: 'otlp', url: collector, headers: headersOf(otlp.headers ?? '') }]),
    ...(publicKey === null || secretKey === null
      ? []
      : [
          {
            name: 'langfuse',
            url: `${langfuse.host.replace(/\/$/, '')}/api/public/otel/v1/traces`,
            headers: langfuseHeaders(publicKey, secretKey),
          },
        ]),
  ];
}

function langfuseHeaders(publicKey: string, secretKey: string): Record<string, string> {
  const basic = Buffer.from(`${publicKey}:${secretKey}`).toString('base64');
  return { authorization: `Basic ${basic}`, 'x-langfuse-ingestion-version': '4' };
}

/** `name=value,…` with values as URLs encode them (OpenTelemetry's form). What is not of that form is left out. */
function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim().toLowerCase();
    return at > 0 && /^[\w-]+$/.test(name) ? [[name, decoded(pair.slice(at + 1).trim())] as const] : [];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
