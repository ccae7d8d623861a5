import type { Variable } from './variable.ts';

/** Where spans go. */
export const TRACING_VARIABLES: readonly Variable[] = [
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    path: 'tracing.otlp.endpoint',
    type: 'text',
    meaning:
      'Base URL of an OpenTelemetry collector (OTLP over HTTP) that receives spans of runs, model calls and tools, without their text.',
  },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', path: 'tracing.otlp.tracesEndpoint', type: 'text', meaning: 'The same, as the full URL.' },
  {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    path: 'tracing.otlp.headers',
    type: 'text',
    secret: true,
    meaning: 'Headers for the collector, as name=value, separated by commas.',
  },
  { name: 'OTEL_SERVICE_NAME', path: 'tracing.otlp.serviceName', type: 'text', meaning: 'Service name in the spans.' },
  {
    name: 'LANGFUSE_PUBLIC_KEY',
    path: 'tracing.langfuse.publicKey',
    type: 'text',
    meaning: 'Langfuse public key. With the secret key, the same spans go to Langfuse.',
  },
  { name: 'LANGFUSE_SECRET_KEY', path: 'tracing.langfuse.secretKey', type: 'text', secret: true, meaning: 'Langfuse secret key.' },
  {
    name: 'LANGFUSE_HOST',
    path: 'tracing.langfuse.host',
    type: 'text',
    meaning: 'Langfuse URL, for another region or a self-hosted instance.',
  },
];
