import { z } from 'zod';
import { sendJson, startLoopback } from './loopback-server.ts';

const Value = z.object({
  stringValue: z.string().optional(),
  intValue: z.union([z.number(), z.string()]).optional(),
  doubleValue: z.number().optional(),
  boolValue: z.boolean().optional(),
});
const Attribute = z.object({ key: z.string(), value: Value });
const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes: z.array(Attribute),
  status: z.object({ code: z.number().optional(), message: z.string().optional() }),
});
const Batch = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(Attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(Span) })),
    }),
  ),
});

export interface ReceivedSpan extends Omit<z.output<typeof Span>, 'attributes'> {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly service: unknown;
}

/** Starts a receiver of OTLP over HTTP that stores what it receives. */
export async function startSpanReceiver(status = 200) {
  const bodies: string[] = [];
  const server = await startLoopback((request, response) => {
    const pieces: Buffer[] = [];
    request
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        bodies.push(Buffer.concat(pieces).toString());
        sendJson(response, status, {});
      });
  });
  return {
    url: server.url,
    requests: server.requests,
    /** Returns everything that was received, unchanged. */
    text: () => bodies.join('\n'),
    spans: (): ReceivedSpan[] => bodies.flatMap((body) => readSpans(Batch.parse(JSON.parse(body)))),
    close: () => server.close(),
  };
}

function readSpans({ resourceSpans }: z.output<typeof Batch>): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = readFacts(resource.attributes)['service.name'];
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({ ...span, attributes: readFacts(span.attributes), service })),
    );
  });
}

function readFacts(attributes: readonly z.output<typeof Attribute>[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue),
    ]),
  );
}
