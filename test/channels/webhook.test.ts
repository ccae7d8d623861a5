import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createSignedHeaders, createWebhookChannel, WebhookSettings } from '../../src/channels/webhook.ts';
import type { Analysis } from '../../src/domain/analysis.ts';
import type { Build } from '../../src/domain/build.ts';
import { testPublisherContract } from '../contract/publisher-contract.ts';
import { type LoopbackServer, startLoopback } from '../support/loopback-server.ts';
import { listSchemaErrors } from '../support/published-schemas.ts';
import { createRecalledAnalysis, sampleAnalysis, sampleBuild } from '../support/sample-analysis.ts';
import { callTo, openAnswers, send } from './sending.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const clock = { now: () => Date.parse('2026-10-12T14:00:00.500Z') };
let server: LoopbackServer;
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A webhook with these settings, which answers are published to. */
function createPublisher(settings: z.input<typeof WebhookSettings>, publicUrl: string | null = null) {
  const channel = createWebhookChannel(WebhookSettings.parse({ secrets: [SECRET], ...settings }));
  const open = () => openAnswers(channel, { clock, publicUrl });
  return {
    open,
    publish: async (build: Build, analysis: Analysis, key = 'k') =>
      await send(await open(), { build, analysis }, callTo(null, { key })),
  };
}

async function createReceiver(answer: Answer = (_request, response) => void response.writeHead(204).end()) {
  server = await startLoopback(answer);
  return {
    server,
    publisher: createPublisher({ url: `${server.url}/hook` }),
  };
}

testPublisherContract('webhook', async () => {
  const { publisher } = await createReceiver();
  const told = () => new Set(server.requests.map(({ headers }) => headers['webhook-id'])).size;
  return { publisher: await publisher.open(), told };
});

describe('the signature', () => {
  it('equals the one in the published example of Standard Webhooks', () => {
    server = { url: '', requests: [], close: async () => undefined };
    const headers = createSignedHeaders(
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      '{"test": 2432232314}',
      [SECRET],
      1_614_265_330_000,
    );
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('covers the sent bytes, with each secret during a rotation', async () => {
    let body = '';
    const { server } = await createReceiver((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => response.writeHead(201, { location: '/messages/7' }).end('{"ok":true}'));
    });
    const publisher = createPublisher({ url: server.url, secrets: [SECRET, OTHER] });
    const told = await publisher.publish(sampleBuild(), createRecalledAnalysis(), 'webhook:ana_9f2c');

    const headers = server.requests[0]?.headers ?? {};
    const signed = [SECRET, OTHER].map((secret) =>
      createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
        .update(`webhook:ana_9f2c.1791813600.${body}`)
        .digest('base64'),
    );
    expect(headers).toMatchObject({ 'webhook-id': 'webhook:ana_9f2c', 'webhook-timestamp': '1791813600' });
    expect(headers['webhook-signature']).toBe(signed.map((one) => `v1,${one}`).join(' '));
    expect(JSON.parse(body)).toMatchObject({
      type: 'analysis.concluded',
      data: {
        build: { repository: 'shop/api', number: '812' },
        analysis: { id: 'ana_9f2c', category: 'TEST_FAILURE', confirmedBy: 'grace' },
      },
    });
    expect(told).toEqual({ reference: '/messages/7' });
  });
});

describe('a CloudEvent', () => {
  it('is valid by the published schema, signed, and identified by its key', async () => {
    const { server, publisher, bodies } = await createEventReceiver('https://fl.example');
    await publisher.publish(sampleBuild(), createRecalledAnalysis(), 'webhook:ana_9f2c');
    const event: unknown = JSON.parse(bodies[0] ?? '');
    expect(listSchemaErrors('cloudevents', event)).toEqual([]);
    expect(event).toMatchObject({
      specversion: '1.0',
      type: 'io.faultline.analysis.finished',
      source: 'https://fl.example',
      id: 'webhook:ana_9f2c',
      subject: 'ana_9f2c',
      time: '2026-10-12T14:01:15.000Z',
      data: {
        analysis: { category: 'TEST_FAILURE', confirmedBy: 'grace' },
        pipelineRun: {
          id: '9001',
          source: 'https://ci.example',
          type: 'pipelineRun',
          content: { pipelineName: 'ci', outcome: 'failure' },
        },
      },
    });
    expect(server.requests[0]?.headers).toMatchObject({
      'content-type': 'application/cloudevents+json',
      'webhook-id': 'webhook:ana_9f2c',
    });
    const signed = createSignedHeaders('webhook:ana_9f2c', bodies[0] ?? '', [SECRET], clock.now());
    expect(server.requests[0]?.headers).toMatchObject(signed);
  });

  it('is valid without an address or details of the build', async () => {
    const { publisher, bodies } = await createEventReceiver(null);
    await publisher.publish(sampleBuild({ url: 'no address', externalId: null }), sampleAnalysis(), 'k');
    expect(listSchemaErrors('cloudevents', JSON.parse(bodies[0] ?? ''))).toEqual([]);
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
      source: '/faultline',
      data: { pipelineRun: { id: '812', source: '/faultline' } },
    });
  });
});

describe('a CDEvent', () => {
  it('is a finished pipeline run by the published schema, with the answer as its errors', async () => {
    const { server, publisher, bodies } = await createEventReceiver('https://fl.example', 'cdevents');
    await publisher.publish(sampleBuild(), createRecalledAnalysis(), 'webhook:ana_9f2c');
    const event = z.looseObject({ data: z.unknown() }).parse(JSON.parse(bodies[0] ?? ''));

    expect(listSchemaErrors('cloudevents', event)).toEqual([]);
    expect(listSchemaErrors('cdevents/pipelinerunfinished', event.data)).toEqual([]);
    expect(event).toMatchObject({
      type: 'dev.cdevents.pipelinerun.finished.0.3.0',
      id: 'webhook:ana_9f2c',
      subject: '9001',
      data: {
        context: { specversion: '0.5.1', id: 'webhook:ana_9f2c', source: 'https://fl.example' },
        subject: {
          id: '9001',
          source: 'https://ci.example',
          content: { pipelineName: 'ci', outcome: 'failure', errors: expect.stringContaining('\n') },
        },
        customData: { analysis: { id: 'ana_9f2c', category: 'TEST_FAILURE' } },
      },
    });
    expect(server.requests[0]?.headers['content-type']).toBe('application/cloudevents+json');
  });

  it('is valid without an address or details of the build', async () => {
    const { publisher, bodies } = await createEventReceiver(null, 'cdevents');
    await publisher.publish(sampleBuild({ url: 'no address', externalId: null }), sampleAnalysis(), 'k');

    const { data } = z.looseObject({ data: z.unknown() }).parse(JSON.parse(bodies[0] ?? ''));
    expect(listSchemaErrors('cdevents/pipelinerunfinished', data)).toEqual([]);
  });

  it('would be invalid with another field', () => {
    server = { url: '', requests: [], close: async () => undefined };
    expect(
      listSchemaErrors('cdevents/pipelinerunfinished', { context: {}, subject: {}, other: 1 }),
    ).toContain(': must NOT have additional properties');
  });
});

describe('any format', () => {
  it.each(['standard', 'cloudevents', 'cdevents'] as const)(
    '%s is verified by the library of Standard Webhooks, and refused if one character changes',
    async (format) => {
      const { server, publisher, bodies } = await createEventReceiver('https://fl.example', format);
      await publisher.publish(sampleBuild(), sampleAnalysis(), 'webhook:ana_9f2c');
      const [body = ''] = bodies;
      const headers = Object.fromEntries(
        ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
          name,
          String(server.requests[0]?.headers[name]),
        ]),
      );
      // The library compares the time with its own clock.
      vi.useFakeTimers({ toFake: ['Date'], now: clock.now() });
      const verify = (text: string) => new Webhook(SECRET).verify(text, headers);

      expect(verify(body)).toEqual(JSON.parse(body));
      expect(() => verify(body.replace('9001', '9002').replace('812', '813'))).toThrow(
        'No matching signature found',
      );
    },
  );
});

async function createEventReceiver(
  publicUrl: string | null,
  format: 'standard' | 'cloudevents' | 'cdevents' = 'cloudevents',
) {
  const bodies: string[] = [];
  const { server } = await createReceiver((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString('utf8'));
      response.writeHead(204).end();
    });
  });
  return {
    server,
    bodies,
    publisher: createPublisher({ url: server.url, formats: [format] }, publicUrl),
  };
}

const Thrown = z.object({
  code: z.string(),
  retryable: z.boolean(),
  retryAfterMs: z.number().optional(),
  message: z.string(),
});

async function catchRefusal(answer: Answer) {
  const { publisher } = await createReceiver(answer);
  const error: unknown = await publisher
    .publish(sampleBuild(), sampleAnalysis(), 'k')
    .catch((thrown: unknown) => thrown);
  return Thrown.parse(error);
}

describe('a response that is not a success', () => {
  it.each([
    [500, {}, { retryable: true }],
    [429, { 'retry-after': '90' }, { retryable: true, retryAfterMs: 90_000, code: 'rate-limited' }],
    [503, { 'retry-after': 'Mon, 12 Oct 2026 14:01:00 GMT' }, { retryable: true, retryAfterMs: 59_500 }],
    [429, { 'retry-after': 'soon' }, { retryable: true }],
    [401, {}, { retryable: false, code: 'upstream-auth' }],
    [410, {}, { retryable: false }],
    [308, { location: 'http://169.254.169.254/' }, { retryable: false }],
  ])('with status %i and headers %j is the error %j', async (status, headers, wanted) => {
    expect(
      await catchRefusal((_request, response) => void response.writeHead(status, headers).end()),
    ).toMatchObject(wanted);
    expect(server.requests).toHaveLength(1);
  });

  it('is retryable if the server does not respond, and the error does not reveal the address', async () => {
    const { message, retryable } = await catchRefusal((request) => void request.socket.destroy());
    expect(retryable).toBe(true);
    expect(message).not.toContain('127.0.0.1');
  });
});

it('the body of a successful response is not read to its end', async () => {
  const { publisher } = await createReceiver((_request, response) => {
    response.writeHead(200);
    const more = () => {
      while (response.write(Buffer.alloc(65_536))) if (response.destroyed) return;
    };
    response.on('drain', more);
    more();
  });
  expect(await publisher.publish(sampleBuild(), sampleAnalysis(), 'k')).toEqual({
    reference: null,
  });
});

it('the size of the sent body is limited, whatever the answer contains', async () => {
  let bytes = 0;
  const { publisher } = await createReceiver((request, response) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => response.writeHead(204).end());
  });
  const long = 'x\ud800'.repeat(1_000_000);
  const { answer } = sampleAnalysis();
  const claim = {
    text: long,
    evidence: [],
    quotes: Array.from({ length: 50 }, () => ({ source: 'build.log', line: 1, text: long })),
  };
  const swollen = sampleAnalysis({
    answer: { ...answer, title: long, rootCause: long, claims: Array.from({ length: 50 }, () => claim) },
  });
  await publisher.publish(sampleBuild(), swollen, 'k');
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(400_000);
});
