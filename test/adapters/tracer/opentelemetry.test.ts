import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOpenTelemetryTracer } from '../../../src/adapters/tracer/opentelemetry.ts';
import { TriageError } from '../../../src/domain/errors.ts';
import { silentLogger, silentTracer, type Tracer } from '../../../src/ports/telemetry.ts';
import { startSpanReceiver } from '../../support/span-receiver.ts';

let receiver: Awaited<ReturnType<typeof startSpanReceiver>>;
let tracer: Tracer;
beforeEach(async () => {
  receiver = await startSpanReceiver();
  const to = { url: `${receiver.url}/v1/traces`, headers: { 'x-key': 'k' } };
  tracer = createOpenTelemetryTracer({ serviceName: 'faultline-test', receiver: to, logger: silentLogger });
});
afterEach(() => receiver.close());

const outline = (name: string, facts = {}) => ({ name, kind: 'internal' as const, facts });

describe('OpenTelemetry spans', () => {
  it('arrive with their attributes, under the open parent span', async () => {
    const value = await tracer.span(
      outline('run', { a: 1, b: 'text', c: true, none: null }),
      async (span) => {
        await Promise.all([
          tracer.span({ ...outline('left'), kind: 'client' }, async () => 1),
          tracer.span(outline('right'), async () => 2),
        ]);
        span.add({ d: 0.5, missing: undefined });
        return 'done';
      },
    );
    await tracer.flush(5_000);

    expect(value).toBe('done');
    const [run, left, right] = ['run', 'left', 'right'].map((name) =>
      receiver.spans().find((span) => span.name === name),
    );
    expect(run).toMatchObject({
      service: 'faultline-test',
      attributes: { a: 1, b: 'text', c: true, d: 0.5 },
    });
    expect(run?.attributes).not.toHaveProperty('none');
    expect([left?.parentSpanId, right?.parentSpanId]).toEqual([run?.spanId, run?.spanId]);
    expect([run?.kind, left?.kind]).toEqual([1, 3]);
    expect(receiver.requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/traces',
      headers: { 'x-key': 'k' },
    });
  });

  it('contain the kind of an error, not its message', async () => {
    const failing = tracer.span(outline('broken'), async () => {
      throw new TriageError('upstream-auth', 'the key hunter2 was refused');
    });
    await expect(failing).rejects.toThrow('hunter2');
    await tracer.span(outline('soft'), async (span) => span.fail('timed-out'));
    await tracer.flush(5_000);

    const [broken, soft] = receiver.spans();
    expect(broken).toMatchObject({ attributes: { 'error.type': 'upstream-auth' }, status: { code: 2 } });
    expect(soft).toMatchObject({ attributes: { 'error.type': 'timed-out' }, status: { code: 2 } });
    expect(receiver.text()).not.toContain('hunter2');
  });

  it('have their attributes cut to 200 characters', async () => {
    await tracer.span(outline('long', { text: 'x'.repeat(10_000) }), async () => undefined);
    await tracer.flush(5_000);
    expect(receiver.spans()[0]?.attributes.text).toHaveLength(200);
  });
});

describe('a span receiver that does not work', () => {
  it.each([
    ['answers 500', async () => (await startSpanReceiver(500)).url],
    ['is not there', async () => 'http://127.0.0.1:9'],
  ])('has no effect on the traced work: %s', async (_name, urlOf) => {
    const to = { url: await urlOf(), headers: {} };
    const bad = createOpenTelemetryTracer({ serviceName: 's', receiver: to, logger: silentLogger });
    expect(await bad.span(outline('run'), async () => 'value')).toBe('value');
    await bad.flush(5_000);
  });

  it('that hangs delays its callers by at most the limit', async () => {
    const { startLoopback } = await import('../../support/loopback-server.ts');
    const hanging = await startLoopback(() => undefined);
    const to = { url: hanging.url, headers: {} };
    const stuck = createOpenTelemetryTracer({ serviceName: 's', receiver: to, logger: silentLogger });
    await stuck.span(outline('run'), async () => undefined);
    await stuck.flush(50);
    await hanging.close();
  });
});

it('tracing changes nothing if no receiver is configured', async () => {
  const value = await silentTracer.span(outline('run'), async (span) => {
    span.add({ a: 1 });
    span.fail('x');
    return 'value';
  });
  expect(value).toBe('value');
  await silentTracer.flush(1);
});

describe('a trace across several processes', () => {
  it('continues under the traceparent that came with the work', async () => {
    let carried: string | null = null;
    expect(tracer.traceparent()).toBeNull();
    await tracer.span({ ...outline('webhook'), kind: 'server' }, async () => {
      carried = tracer.traceparent();
    });
    expect(carried).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    await tracer.span({ ...outline('work'), kind: 'consumer', parent: carried }, async () => {
      tracer.record(outline('waited'), { startedAt: 1_790_000_001_000, endedAt: 1_790_000_003_500 });
    });
    await tracer.flush(5_000);

    const [webhook, work, waited] = ['webhook', 'work', 'waited'].map((name) =>
      receiver.spans().find((span) => span.name === name),
    );
    expect(new Set([webhook?.traceId, work?.traceId, waited?.traceId]).size).toBe(1);
    expect(work?.parentSpanId).toBe(webhook?.spanId);
    expect(waited?.parentSpanId).toBe(work?.spanId);
    expect([webhook?.kind, work?.kind, waited?.kind]).toEqual([2, 5, 1]);
    expect(receiver.text()).toContain(
      '"startTimeUnixNano":"1790000001000000000","endTimeUnixNano":"1790000003500000000"',
    );
  });

  it.each([
    ['nothing', null],
    ['another version', `01-${'a'.repeat(32)}-${'b'.repeat(16)}-01`],
    ['no trace', `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`],
    ['no span', `00-${'a'.repeat(32)}-${'0'.repeat(16)}-01`],
    ['no traceparent', 'x'.repeat(10_000)],
  ])('starts anew if the incoming traceparent is %s', async (_name, parent) => {
    await tracer.span({ ...outline('work'), parent }, async () => undefined);
    await tracer.flush(5_000);
    expect(receiver.spans()[0]?.parentSpanId ?? '').toBe('');
  });

  it('is named in every line that is logged inside it', async () => {
    const lines: object[] = [];
    const within = <Value>(fields: object, work: () => Value) => {
      lines.push(fields);
      return work();
    };
    const to = { url: `${receiver.url}/v1/traces`, headers: {} };
    const logged = createOpenTelemetryTracer({
      serviceName: 's',
      receiver: to,
      logger: { ...silentLogger, within },
    });
    await logged.span(outline('work'), async () => undefined);
    await logged.flush(5_000);
    expect(lines).toEqual([{ traceId: receiver.spans()[0]?.traceId, spanId: receiver.spans()[0]?.spanId }]);
  });
});
