import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveEndpoint } from '../../../src/models/chat/connect.ts';
import { sendJson, startLoopback } from '../../support/loopback-server.ts';
import {
  type OpenAiServer,
  type OpenAiServerOptions,
  startOpenAiServer,
  TEST_KEY,
} from '../../support/openai-server.ts';
import { CHOICE, catchError, createModel, never } from './model-stage.ts';

const listUrls = (baseUrl: string | null, apiVersion: string | null = null) =>
  resolveEndpoint({ baseUrl, apiKey: 'k', apiVersion, model: 'gpt-4o mini' }).urls;

describe('the address', () => {
  test.each([
    [null, 'https://api.openai.com/v1/chat/completions'],
    ['http://h:1/v1', 'http://h:1/v1/chat/completions'],
    ['http://h:1/v1/', 'http://h:1/v1/chat/completions'],
    ['http://h:1/v1/chat/completions', 'http://h:1/v1/chat/completions'],
    ['http://h:1', 'http://h:1/v1/chat/completions'],
    ['http://h:1/', 'http://h:1/v1/chat/completions'],
    ['https://g/v1beta/openai/', 'https://g/v1beta/openai/chat/completions'],
    ['http://h:1/proxy?team=a', 'http://h:1/proxy/chat/completions?team=a'],
    [
      'https://a.openai.azure.com',
      'https://a.openai.azure.com/openai/deployments/gpt-4o%20mini/chat/completions?api-version=2024-10-21',
    ],
    ['https://a.openai.azure.com/openai/v1/', 'https://a.openai.azure.com/openai/v1/chat/completions'],
    [
      'https://a.openai.azure.com/openai/deployments/mine?api-version=2025-01-01-preview',
      'https://a.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2025-01-01-preview',
    ],
  ])('of %s is %s', (baseUrl, url) => {
    expect(listUrls(baseUrl)[0]).toBe(url);
  });

  test.each(['localhost:11434/v1', 'ftp://h/v1', 'nonsense'])('is refused: %s', (baseUrl) => {
    expect(() => listUrls(baseUrl)).toThrow('must begin with http:// or https://');
  });

  test('of a server that needs no key contains none', () => {
    expect(
      resolveEndpoint({ baseUrl: 'http://h', apiKey: null, apiVersion: null, model: 'm' }).headers,
    ).toEqual({});
  });
});

describe('a request over HTTP', () => {
  let server: OpenAiServer;
  beforeEach(async () => {
    server = await startOpenAiServer();
  });
  afterEach(() => server.close());

  async function restart(options: OpenAiServerOptions) {
    await server.close();
    server = await startOpenAiServer(options);
  }

  test.each(['', '/', '/v1', '/v1/', '/v1/chat/completions'])(
    'is sent at once to a base URL that ends in "%s"',
    async (end) => {
      server.script({ do: 'call', calls: [{ name: 'view_log', args: { line: 1 } }] });
      const baseUrl = server.baseUrl.replace('/v1', end);
      expect((await createModel(server, { baseUrl }).chooseTools(CHOICE, never)).value).toHaveLength(1);
      expect(server.heard).toEqual(['POST /v1/chat/completions']);
    },
  );

  test('finds a path without /v1 below it, and remembers it', async () => {
    await restart({ path: '/llm/v1/chat/completions' });
    server.script({ do: 'call', calls: [{ name: 'view_log', args: { line: 1 } }] });
    const model = createModel(server, { baseUrl: server.baseUrl.replace('/v1', '/llm') });
    for (let time = 0; time < 2; time++) await model.chooseTools(CHOICE, never);
    expect(server.heard.map((line) => line.slice(5))).toEqual([
      '/llm/chat/completions',
      '/llm/v1/chat/completions',
      '/llm/v1/chat/completions',
    ]);
  });

  test('is sent to Azure with deployment, version and its own header', async () => {
    await restart({
      azure: true,
      path: '/openai/deployments/our-mini/chat/completions?api-version=2024-10-21',
    });
    server.script({ do: 'text', text: 'It was rounded.' });
    const model = createModel(server, {
      baseUrl: server.baseUrl.replace('/v1', ''),
      model: 'our-mini',
      apiVersion: '',
    });
    const request = {
      system: 's',
      turns: [{ role: 'user', text: 'Why?' }],
      name: 'n',
      onText: () => undefined,
    } as const;
    expect((await model.stream(request, never)).value).toBe('It was rounded.');
    expect(server.heard).toHaveLength(1);
  });

  test('has no key for a server without one', async () => {
    await restart({ apiKey: null });
    server.script({ do: 'call', calls: [{ name: 'view_log', args: { line: 1 } }] });
    expect((await createModel(server, { apiKey: null }).chooseTools(CHOICE, never)).value).toHaveLength(1);
  });

  test.each([301, 302, 307, 308])(
    'does not follow a redirect (%d): neither key nor question are sent to another host',
    async (status) => {
      const other = await startLoopback((_request, response) => sendJson(response, 200, {}));
      server.script({ do: 'status', status, headers: { location: `${other.url}/v1/chat/completions` } });
      for (const options of [{}, { apiVersion: '2024-10-21', baseUrl: server.baseUrl }]) {
        if ('apiVersion' in options)
          await restart({ azure: true, path: '/v1/chat/completions?api-version=2024-10-21' });
        server.script({ do: 'status', status, headers: { location: `${other.url}/v1/chat/completions` } });
        const error = await catchError(
          createModel(server, { ...options, baseUrl: server.baseUrl }).chooseTools(CHOICE, never),
        );
        expect(error).toMatchObject({ code: 'upstream-failed', retryable: false });
        expect(error.message).toContain(`redirects to ${new URL(other.url).host}`);
        expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain(TEST_KEY);
      }
      await other.close();
      expect(other.requests).toEqual([]);
    },
  );
});
