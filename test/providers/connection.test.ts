import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import type { Finding } from '../../src/ports/health.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { type ConnectRequest, connect, getWebhookAddress } from '../../src/service/connect.ts';
import { clearState, createFakeHttpDeps, type FakeState } from '../support/fake-stores.ts';
import { TEST_CONFIG, withSecrets } from '../support/http-deps.ts';
import { type Host, type ProviderWorld, startHost } from './contract.ts';
import { WORLDS } from './worlds/all.ts';

const SECRET = 'connection-secret-one';

describe.each(WORLDS)('the connection of $name', (world: ProviderWorld) => {
  let host: Host;
  let provider: Provider;
  let app: FastifyInstance;
  let state: FakeState;
  let address: string;
  beforeAll(async () => {
    const fake = createFakeHttpDeps();
    state = fake.state;
    app = await buildHttp({
      ...fake.deps,
      config: { ...TEST_CONFIG, providers: withSecrets({ [world.name]: [SECRET] }) },
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    clearState(state);
    host = await startHost(world);
    provider = world.open(host.url, SECRET);
    address = getWebhookAddress(provider, app.listeningOrigin);
  });
  afterEach(() => host.close());

  const repository = world.hooksOf ?? world.build.repository;
  async function run(change: Partial<ConnectRequest> = {}): Promise<Map<string, Finding>> {
    const request = { repository, address, secret: SECRET, create: false, test: false, ...change };
    const found = new Map<string, Finding>();
    for await (const finding of connect(provider, request, AbortSignal.timeout(20_000)))
      found.set(finding.name, finding);
    return found;
  }
  const has = !world.lacks.includes('hooks');

  test('has a page with the steps and the permissions of the token', async () => {
    const { steps, rights, events, secretSetting, page } = await provider.connection();
    expect([steps.length > 1, rights.length > 0, events.length > 0]).toEqual([true, true, true]);
    expect([secretSetting, page]).toEqual([
      expect.stringMatching(/^FAULTLINE_[A-Z]+_WEBHOOK_SECRET$/),
      expect.stringMatching(/^docs\/start\//),
    ]);
  });

  test('accepts a signed test delivery, which changes nothing', async () => {
    const found = await run({ test: true });
    expect(found.get('test delivery')).toMatchObject({
      state: 'ok',
      says: expect.stringMatching(/^accepted at http.*: .{10}/),
    });
    expect([state.deliveries, state.builds]).toEqual([[], []]);
  });

  test('reports a secret that differs from that of the service', async () => {
    const found = await run({ test: true, secret: 'another-secret-two' });
    expect(found.get('test delivery')).toMatchObject({
      state: 'wrong',
      says: expect.stringContaining('returned 401'),
    });
  });

  test('reports a service that does not respond', async () => {
    const found = await run({ test: true, address: 'http://127.0.0.1:9/webhooks/x' });
    expect(found.get('test delivery')).toMatchObject({
      state: 'wrong',
      remedy: expect.stringContaining('can be reached'),
    });
  });

  if (has) {
    test('checks each permission of the token', async () => {
      expect([...(await run()).values()].filter(({ state: is }) => is === 'wrong')).toEqual([]);
      host.state.forbidden = /actions\/runs|pipeline|build\/builds/;
      const wrong = [...(await run()).values()].filter(({ state: is }) => is === 'wrong');
      expect(wrong).toMatchObject([
        {
          name: expect.stringMatching(/^(?:runs|pipelines|builds)$/),
          says: expect.stringContaining('403'),
          remedy: expect.any(String),
        },
      ]);
    });

    test('creates the webhook once, with address and secret', async () => {
      expect((await run({ create: true })).get('webhook')).toMatchObject({
        state: 'ok',
        says: expect.stringContaining(address),
      });
      expect(host.state.hooks).toMatchObject([{ address, secret: SECRET }]);
      expect((await run({ create: true })).get('webhook')).toMatchObject({
        state: 'note',
        says: expect.stringContaining('already'),
      });
      expect(host.state.hooks).toHaveLength(1);
    });

    test('reports what a token lacks that may not create it', async () => {
      host.state.forbidden = /hook/;
      expect((await run({ create: true })).get('webhook')).toMatchObject({
        state: 'wrong',
        says: expect.stringMatching(/403.*_TOKEN needs permission to/),
      });
    });

    test("requests the provider's own test if there is one, and shows its result", async () => {
      const found = await run({ create: true, test: true });
      const ping = found.get('ping');
      if (ping === undefined) expect(host.state.delivered).toEqual([]);
      else
        expect([ping.state, host.state.delivered[0]?.status ?? 202]).toEqual([
          ping.says.includes('got') ? 'ok' : 'note',
          202,
        ]);
      expect(found.get('test delivery')?.state).toBe('ok');
    });
  } else {
    test('is set up by hand if the provider has no API for webhooks', async () => {
      expect((await run({ create: true })).get('webhook')).toMatchObject({
        state: 'wrong',
        remedy: expect.stringContaining('by hand'),
      });
    });
  }

  test('creates nothing without address, secret or repository, and names the missing options', async () => {
    const found = await run({ repository: null, address: null, secret: null, create: true, test: true });
    expect(found.get('test delivery')).toMatchObject({
      state: 'wrong',
      remedy: expect.stringContaining('--url'),
    });
    expect(found.get('webhook')).toMatchObject({ state: 'wrong' });
    expect(host.state.hooks).toEqual([]);
  });
});
