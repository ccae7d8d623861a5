import type { Variable } from './variable.ts';

/** Where spans go. */
export const TRACING_VARIABLES: readonly Variable[] = [
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    path: 'tracing.otlp.endpoint',
    type: 'text',
    meaning:
      'Base address of an OpenTelemetry collector (OTLP over HTTP) that gets spans of runs, model calls and tools, without any text of them.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    path: 'tracing.otlp.tracesEndpoint',
    type: 'text',
    meaning: 'The same, as the whole address.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    path: 'tracing.otlp.headers',
    type: 'text',
    secret: true,
    meaning: 'Headers that the collector wants, as name=value, separated by commas.',
  },
  { name: 'OTEL_SERVICE_NAME', path: 'tracing.otlp.serviceName', type: 'text', meaning: 'What the spans say they come from.' },
  {
    name: 'LANGFUSE_PUBLIC_KEY',
    path: 'tracing.langfuse.publicKey',
    type: 'text',
    meaning: 'With the secret key: the same spans go to Langfuse.',
  },
  { name: 'LANGFUSE_SECRET_KEY', path: 'tracing.langfuse.secretKey', type: 'text', secret: true, meaning: 'Its secret key.' },
  { name: 'LANGFUSE_HOST', path: 'tracing.langfuse.host', type: 'text', meaning: "Langfuse's address, for another region or one's own." },
];
