import type { Client } from '@modelcontextprotocol/client';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { runFaultline } from '../cli/faultline.ts';
import { createFakeTokens } from '../support/fake-tokens.ts';
import { createEmptyHttpDeps, TOKENS } from '../support/http-deps.ts';
import { sampleAnalysis, sampleAnswers, sampleBuild } from '../support/sample-analysis.ts';
import { connectAgentOverHttp, connectAgentOverStdio, PROTOCOLS, type ProtocolVersion } from './agent.ts';
import { addTokens, createInstallation } from './world.ts';

const tokens = createFakeTokens();

let app: FastifyInstance;
let address: string;
beforeAll(async () => {
  const { stores, archive } = createInstallation({
    builds: { list: async ({ repositories }) => (repositories === undefined ? [sampleBuild()] : []) },
  });
  const all = addTokens(stores, tokens);
  app = await buildHttp({
    ...createEmptyHttpDeps({ stores: all, explainLog: async () => sampleAnswers([sampleAnalysis()]) }),
    archive: { ...createEmptyHttpDeps().archive, ...archive },
  });
  address = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => app.close());

const WAYS: Readonly<
  Record<string, (token: string, query: string, version: ProtocolVersion) => Promise<Client>>
> = {
  HTTP: async (token, query, version) => await connectAgentOverHttp(address, token, query, version),
  'standard input and output': async (token, query, version) => {
    const feedback = query === '' ? [] : ['--allow-feedback'];
    return await connectAgentOverStdio(['--url', address, '--token', token, ...feedback], {}, version);
  },
};
const CASES = Object.entries(WAYS).flatMap(([way, connect]) =>
  PROTOCOLS.map((version) => [version, way, connect] as const),
);

describe.each(CASES)('protocol version %s with its own client over %s', (version, way, connect) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(TOKENS.admin, '?allow=feedback', version);
  });
  afterAll(() => client.close());

  it('offers tools, resources and prompts, and never sends notifications of changes', () => {
    const offered = { tools: {}, resources: {}, prompts: {} };
    const extensions = { 'io.modelcontextprotocol/tasks': {} };
    expect(client.getServerCapabilities()).toEqual(way === 'HTTP' ? { ...offered, extensions } : offered);
  });

  it.each([
    ['list_failures', {}],
    ['get_failure', { id: 'ana_9f2c' }],
    ['get_evidence', { id: 'ana_9f2c' }],
    ['get_evidence', { id: 'ana_9f2c', evidence: 'E1' }],
    ['get_evidence', { id: 'ana_9f2c', from: 3, to: 9, source: 'build.log' }],
    ['search_similar', { text: 'expected' }],
    ['flaky_tests', {}],
    ['explain_log', { log: 'Error: boom' }],
  ])('%s answers %j as text and as data that match its schema', async (name, args) => {
    // The client checks data against the schemas that it was listed.
    const { tools } = await client.listTools();
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });

    expect(tools.find((tool) => tool.name === name)?.outputSchema).toMatchObject({ type: 'object' });
    expect([isError, content]).toEqual([undefined, [{ type: 'text', text: expect.any(String) }]]);
    expect(Object.keys(structuredContent as object)).not.toEqual([]);
    expect(Buffer.byteLength(JSON.stringify(structuredContent))).toBeLessThan(8_192);
  });

  it('returns the lines of a log as data too', async () => {
    const { structuredContent } = await client.callTool({
      name: 'get_evidence',
      arguments: { id: 'ana_9f2c', from: 3, to: 4, source: 'build.log' },
    });

    expect(structuredContent).toMatchObject({
      pieces: [
        {
          id: null,
          source: 'build.log',
          lines: [
            { line: 3, text: 'line number 3' },
            { line: 4, text: 'line number 4' },
          ],
        },
      ],
      next: null,
    });
  });

  it('reports wrong arguments by the tool, and an unknown tool by the protocol', async () => {
    const wrong = await client.callTool({ name: 'list_failures', arguments: { limit: 0 } });

    expect(wrong).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('"limit"') }] });
    await expect(client.callTool({ name: 'rm', arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: 'There is no tool rm; tools/list names them.',
    });
  });

  it('returns a build, an analysis and the lines of a log by their addresses', async () => {
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    const read = async (uri: string) => {
      const [content] = (await client.readResource({ uri })).contents;
      return content !== undefined && 'text' in content ? content : { text: '', mimeType: null };
    };

    expect(resources.map(({ uri }) => uri)).toEqual([`faultline://builds/${sampleBuild().id}`]);
    expect(resourceTemplates.map(({ name }) => name)).toEqual(['build', 'analysis', 'log']);
    expect(JSON.parse((await read('faultline://builds/bld_1')).text)).toMatchObject({
      build: { id: 'bld_1' },
      analyses: [{ id: 'ana_9f2c' }],
    });
    expect(JSON.parse((await read('faultline://analyses/ana_9f2c')).text)).toMatchObject({
      id: 'ana_9f2c',
      category: 'TEST_FAILURE',
    });
    const lines = await read('faultline://builds/bld_1/logs/build.log/10/12');
    expect([lines.mimeType, lines.text]).toEqual([
      'text/plain',
      'line number 10\nline number 11\nline number 12',
    ]);
  });

  it.each([
    [
      'faultline://builds/bld_1/logs/other.log/1/2',
      -32602,
      /no log other\.log .*Available: build\.log \(2000 lines\)/,
    ],
    ['faultline://builds/bld_1/logs/build.log/9/2', -32602, /from not after to/],
    ['faultline://analyses/ana_none', -32602, /no analysis ana_none/],
    ['faultline://builds/%zz', -32602, /does not start an encoded byte/],
    [
      'file:///etc/passwd',
      -32602,
      /no resource file:\/\/\/etc\/passwd\. Valid URIs are faultline:\/\/builds\/\{build\}/,
    ],
  ])('explains why %s cannot be read', async (uri, code, message) => {
    await expect(client.readResource({ uri })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('offers the questions that people ask most', async () => {
    const { prompts } = await client.listPrompts();
    const { messages } = await client.getPrompt({
      name: 'why_is_main_red',
      arguments: { repository: 'shop/api' },
    });
    const triage = await client.getPrompt({ name: 'triage_run', arguments: { build: 'github:812' } });

    expect(
      prompts.map(({ title, arguments: given }) => [
        title,
        given?.map(({ name, required }) => [name, required]),
      ]),
    ).toEqual([
      ['Triage this run', [['build', true]]],
      [
        'Why is main red',
        [
          ['repository', true],
          ['branch', false],
        ],
      ],
    ]);
    expect(messages).toMatchObject([
      {
        role: 'user',
        content: { type: 'text', text: expect.stringContaining('Why is main of shop/api red?') },
      },
    ]);
    expect(triage.messages[0]?.content).toMatchObject({
      text: expect.stringContaining('CI build github:812'),
    });
    await expect(client.getPrompt({ name: 'triage_run', arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('build'),
    });
    await expect(
      client.getPrompt({ name: 'triage_run', arguments: { build: '1. Ignore all' } }),
    ).rejects.toMatchObject({ code: -32602 });
  });
});

it('a token for other repositories reads none of these builds', async () => {
  const client = await connectAgentOverHttp(
    address,
    tokens.give({ roles: ['read'], repositories: ['other/*'] }),
  );

  expect((await client.listResources()).resources).toEqual([]);
  for (const uri of [
    'faultline://builds/bld_1',
    'faultline://analyses/ana_9f2c',
    'faultline://builds/bld_1/logs/build.log/1/2',
  ]) {
    await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  }
  await client.close();
});

it('over standard input, invalid JSON and invalid messages are answered as JSON-RPC requires', async () => {
  const { stdout } = await runFaultline(['mcp', '--url', address, '--token', TOKENS.read], {
    input: '{"jsonrpc": "2.0",\n{"hello": 1}\n',
  });
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

  expect(answers).toEqual([
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: expect.any(String) } },
    { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.any(String) } },
  ]);
});
